//===- dsp_output.h - Sums that are requantized in registers --------------===//
//
// Functions of the instruction set `armdsp` that requantize sums before these
// are stored. They take channels whose numbers are usual: a multiplier that is
// not negative, and a shift to the right by at least two bits.
//
// Both roundings of rescale_double then are one: of the product P = x *
// multiplier, floor((P + 2^30) / 2^31) is divided by 2^s and rounded to
// nearest, halves away from zero, which is floor((P + 2^30 + 2^(s + 30)) /
// 2^(s + 31)) if x >= 0, and has -2^30 for 2^30 if x < 0. For s >= 2 the last
// division only needs the upper word of P + 2^30 or P - 2^30: it is shifted by
// s - 1 bits and rounded by the last bit that is shifted out. This is so for
// any x.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_DSP_OUTPUT_H
#define NNC_ROUTINES_MICROCONTROLLERS_DSP_OUTPUT_H

#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/dsp_products.h"
#include "runtime/routines/microcontrollers/requantization.h"

namespace nnc {

/// Returns true if all of `count` channels are usual, as the top of this file
/// defines it. With a multiplier of 0, the shift may also be 0.
NNC_ONCE_RARELY bool dsp_are_usual_channels(const int32_t *multiplier,
                                            const int32_t *shift, int count) {
  bool are_usual = true;
  NNC_KEEP_LOOP for (int k = 0; k < count; ++k) {
    const int32_t m = multiplier[k], s = shift[k];
    are_usual &= m >= 0 && s >= -32 && (s <= -2 || (m | s) == 0);
  }
  return are_usual;
}

/// The shift to the right of an upper word, for dsp_requantize_usual().
NNC_INLINE int32_t dsp_upper_shift(int32_t shift) { return ~shift & 31; }

/// Returns rescale_double(x, multiplier, shift) + zero, saturated to 8 bits,
/// for a usual channel and `right` = dsp_upper_shift(shift).
NNC_INLINE int32_t dsp_requantize_usual(int32_t x, int32_t multiplier,
                                        int32_t right, int32_t zero) {
  const int64_t nudge = x < 0 ? -(int64_t(1) << 30) : int64_t(1) << 30;
  const auto high =
      static_cast<int32_t>((int64_t(x) * multiplier + nudge) >> 32);
  return dsp_saturate((high >> right) + ((high >> (right - 1)) & 1) + zero);
}

/// Clamps `count` bytes to [low, high].
NNC_ONCE_RARELY void dsp_clamp(int8_t *y, int count, int low, int high) {
  NNC_KEEP_LOOP for (int8_t *end = y + count; y < end; ++y) *y =
      static_cast<int8_t>(*y < low    ? low
                          : *y > high ? high
                                      : *y);
}

/// Stores y[p * step + k], the requantized sums of two columns p (as of
/// dsp_multiply_two) and the first `count` channels k, which are usual; `count`
/// is a multiple of two. If `step` is 0, only those of the first column are
/// stored. Returns the end of the weights.
NNC_ONCE const int8_t *dsp_multiply_store(const uint32_t *columns,
                                          const int8_t *w, int words,
                                          const requantization &r, int count,
                                          int8_t *y, int step) {
  const uint32_t *const end = columns + 4 * words;
  const int32_t *bias = r.bias;
  const int zero = r.zero;
#if defined(NNC_ARM_DSP_LOOPS)
  if (count == 0)
    return w;
  // The inner loop needs all registers. What the loop over channels reads and
  // changes is in memory, in pairs that one instruction loads.
  const int32_t *place = bias;
  const auto distance = [&](const int32_t *p) {
    return reinterpret_cast<const char *>(p) -
           reinterpret_cast<const char *>(r.bias);
  };
  struct {
    ptrdiff_t multiplier, shift; // in bytes from the bias
  } const far = {distance(r.multiplier), distance(r.shift)};
  struct {
    const uint32_t *columns, *end;
  } const bounds = {columns, end};
  struct {
    int zero, nudge;
  } const addends = {zero, 1 << 30};
  struct {
    int8_t *y;
    int step;
  } out = {y, step};
  int8_t *const stop = y + count;
#define NNC_REQUANTIZE(SUM, MULTIPLIER, RIGHT)                                 \
  "asr %[t], %[" SUM "], #31\n\t"                                              \
  "add %[q], %[end], %[t], lsl #31\n\t"                                        \
  "smlal %[q], %[t], %[" SUM "], %[" MULTIPLIER "]\n\t"                        \
  "asrs %[t], %[t], %[" RIGHT "]\n\t"                                          \
  "adc %[" SUM "], %[t], %[x]\n\t"                                             \
  "ssat %[" SUM "], #8, %[" SUM "]\n\t"
  uint32_t s00, s01, s10, s11, x, last, u, v, t, q, a, b;
  __asm__ volatile(
      "2:\n\t"
      "ldr %[t], %[place]\n\t"
      "ldrd %[x], %[end], %[bounds]\n\t"
      "ldrd %[s00], %[s01], [%[t]]\n\t"
      "mov %[s10], %[s00]\n\tmov %[s11], %[s01]\n\t" //
      NNC_DSP_TILE_IN_TWOS                           //
      "ldr %[t], %[place]\n\t"
      "ldrd %[u], %[v], %[far]\n\t"
      "add %[u], %[u], %[t]\n\tadd %[v], %[v], %[t]\n\t"
      "add %[t], %[t], #8\n\tstr %[t], %[place]\n\t"
      "ldrd %[a], %[b], [%[u]]\n\t"
      "ldrd %[u], %[v], [%[v]]\n\t"
      "mvn %[u], %[u]\n\tmvn %[v], %[v]\n\t"
      "ldrd %[x], %[end], %[addends]\n\t" //
      NNC_REQUANTIZE("s10", "a", "u") NNC_REQUANTIZE("s11", "b", "v")
          NNC_REQUANTIZE("s00", "a", "u") NNC_REQUANTIZE("s01", "b", "v") //
      "ldrd %[t], %[q], %[out]\n\t"
      "add %[q], %[q], %[t]\n\t"
      "strb %[s10], [%[q]]\n\tstrb %[s11], [%[q], #1]\n\t"
      "strb %[s00], [%[t]], #1\n\tstrb %[s01], [%[t]], #1\n\t"
      "ldr %[u], %[stop]\n\t"
      "str %[t], %[out]\n\t"
      "cmp %[t], %[u]\n\t"
      "bne 2b"
      : [s00] "=&r"(s00), [s01] "=&r"(s01), [s10] "=&r"(s10), [s11] "=&r"(s11),
        [x] "=&r"(x), [w] "+&r"(w), [end] "=&r"(last), [u] "=&r"(u),
        [v] "=&r"(v), [t] "=&r"(t), [q] "=&r"(q), [a] "=&r"(a), [b] "=&r"(b),
        [place] "+m"(place), [out] "+m"(out)
      : [far] "m"(far), [bounds] "m"(bounds), [addends] "m"(addends),
        [stop] "m"(stop)
      : "cc", "memory");
#undef NNC_REQUANTIZE
#else
  const int32_t *multiplier = r.multiplier, *shift = r.shift;
  NNC_KEEP_LOOP for (const int32_t *last = bias + count; bias != last;
                     bias += 2, multiplier += 2, shift += 2) {
    int32_t s00 = bias[0], s01 = bias[1], s10 = s00, s11 = s01;
    w = dsp_multiply_tile(columns, end, w, s00, s01, s10, s11);
    const int32_t m0 = multiplier[0], m1 = multiplier[1];
    const int32_t right0 = dsp_upper_shift(shift[0]),
                  right1 = dsp_upper_shift(shift[1]);
    const auto store = [&](int8_t *at, int32_t sum0, int32_t sum1) {
      at[0] = int8_t(dsp_requantize_usual(sum0, m0, right0, zero));
      at[1] = int8_t(dsp_requantize_usual(sum1, m1, right1, zero));
    };
    store(y + step, s10, s11);
    store(y, s00, s01);
    y += 2;
  }
#endif
  return w;
}

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_DSP_OUTPUT_H
