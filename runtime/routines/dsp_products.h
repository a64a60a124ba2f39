//===- dsp_products.h - Sums of products of bytes as pairs ----------------===//
//
// What the routines of the instruction set `armdsp` share. These functions are
// no templates and take run-time sizes, so that a module has each of them once,
// however many layers it has.
//
// A column holds factors as pairs of 16 bits: of each four bytes b0, b1, b2, b3
// the pairs (b0, b2) and (b1, b3). Weights are bytes w[n / N][k / 4][N][4]: a
// word of each of N rows, then the next words.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_DSP_PRODUCTS_H
#define NNC_ROUTINES_DSP_PRODUCTS_H

#include "runtime/epilogue.h"
#include "runtime/simd/vec_armdsp.h"

#if defined(__GNUC__)
#define NNC_NOINLINE __attribute__((noinline))
#define NNC_LIKELY(condition) __builtin_expect(condition, 1)
#else
#define NNC_NOINLINE
#define NNC_LIKELY(condition) (condition)
#endif

namespace nnc {

/// Appends `count` bytes, a multiple of four, to a column; returns its end.
NNC_NOINLINE inline uint32_t *dsp_append(uint32_t *column, const int8_t *x,
                                         int count) {
  for (const int8_t *end = x + count; x < end; x += 4) {
    const uint32_t word = load_word(x);
    *column++ = even_bytes(word);
    *column++ = odd_bytes(word);
  }
  return column;
}
/// Appends `count` bytes, then zeros up to a multiple of four.
NNC_NOINLINE inline uint32_t *dsp_append_rest(uint32_t *column, const int8_t *x,
                                              int count) {
  const int whole = count & ~3;
  column = dsp_append(column, x, whole);
  if (whole == count)
    return column;
  int8_t rest[4] = {};
  for (int i = whole; i < count; ++i)
    rest[i - whole] = x[i];
  return dsp_append(column, rest, 4);
}
/// Appends the same byte `count` times, and zeros up to a multiple of four.
NNC_NOINLINE inline uint32_t *dsp_append_fill(uint32_t *column, int fill,
                                              int count) {
  for (; count > 0; count -= 4) {
    int8_t bytes[4] = {};
    for (int i = 0; i < 4 && i < count; ++i)
      bytes[i] = static_cast<int8_t>(fill);
    column = dsp_append(column, bytes, 4);
  }
  return column;
}

/// Computes sums[p * sums_step + r] for two columns p, one `columns_step` words
/// behind the other, and rows r of weights, of which there are `rows`, rounded
/// up to a multiple of two. A column has `words` words of weights.
NNC_NOINLINE inline void dsp_multiply_two(const uint32_t *columns,
                                          int columns_step, const int8_t *w,
                                          int rows, int words, int32_t *sums,
                                          int sums_step) {
  for (int r = 0; r < rows; r += 2, sums += 2) {
    const uint32_t *x0 = columns, *x1 = columns + columns_step;
    const uint32_t *end = x0 + 2 * words;
    int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
#if defined(NNC_ARM_DSP) && defined(__OPTIMIZE__)
    // Compilers keep neither all sums in registers nor use loads of two words
    // that step their pointers. Operands that change are marked as written
    // early, since `end` may begin with the value of one of them.
    uint32_t u, v, t, q, a, b;
    __asm__ volatile("1:\n\t"
                     "ldrd %[u], %[v], [%[w]], #8\n\t"
                     "ldrd %[a], %[b], [%[x0]], #8\n\t"
                     "sxtb16 %[t], %[u]\n\t"
                     "sxtb16 %[q], %[v]\n\t"
                     "sxtb16 %[u], %[u], ror #8\n\t"
                     "sxtb16 %[v], %[v], ror #8\n\t"
                     "smlad %[s00], %[a], %[t], %[s00]\n\t"
                     "smlad %[s01], %[a], %[q], %[s01]\n\t"
                     "smlad %[s00], %[b], %[u], %[s00]\n\t"
                     "smlad %[s01], %[b], %[v], %[s01]\n\t"
                     "ldrd %[a], %[b], [%[x1]], #8\n\t"
                     "cmp %[x0], %[end]\n\t"
                     "smlad %[s10], %[a], %[t], %[s10]\n\t"
                     "smlad %[s11], %[a], %[q], %[s11]\n\t"
                     "smlad %[s10], %[b], %[u], %[s10]\n\t"
                     "smlad %[s11], %[b], %[v], %[s11]\n\t"
                     "bne 1b"
                     : [s00] "+&r"(s00), [s01] "+&r"(s01), [s10] "+&r"(s10),
                       [s11] "+&r"(s11), [x0] "+&r"(x0), [x1] "+&r"(x1),
                       [w] "+&r"(w), [u] "=&r"(u), [v] "=&r"(v), [t] "=&r"(t),
                       [q] "=&r"(q), [a] "=&r"(a), [b] "=&r"(b)
                     : [end] "r"(end)
                     : "cc", "memory");
#else
    for (; x0 != end; x0 += 2, x1 += 2, w += 8) {
      const uint32_t u = load_word(w), v = load_word(w + 4);
      const uint32_t ue = even_bytes(u), uo = odd_bytes(u);
      const uint32_t ve = even_bytes(v), vo = odd_bytes(v);
      s00 = add_products(add_products(s00, x0[0], ue), x0[1], uo);
      s01 = add_products(add_products(s01, x0[0], ve), x0[1], vo);
      s10 = add_products(add_products(s10, x1[0], ue), x1[1], uo);
      s11 = add_products(add_products(s11, x1[0], ve), x1[1], vo);
    }
#endif
    sums[0] = s00, sums[1] = s01;
    sums[sums_step] = s10, sums[sums_step + 1] = s11;
  }
}

/// Computes the sums of one row of bytes x[4 * words] and four rows of weights;
/// returns the end of these.
NNC_NOINLINE inline const int8_t *
dsp_multiply_row(const int8_t *x, const int8_t *w, int words, int32_t *sums) {
  const int8_t *end = x + 4 * words;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#if defined(NNC_ARM_DSP) && defined(__OPTIMIZE__)
#define NNC_ROW(WORD, SUM)                                                     \
  "sxtb16 %[t], %[" WORD "]\n\tsxtb16 %[" WORD "], %[" WORD "], ror #8\n\t"    \
  "smlad %[" SUM "], %[a], %[t], %[" SUM "]\n\t"                               \
  "smlad %[" SUM "], %[b], %[" WORD "], %[" SUM "]\n\t"
  uint32_t u, v, t, a, b;
  __asm__ volatile(
      "1:\n\tldr %[b], [%[x]], #4\n\t"
      "ldrd %[u], %[v], [%[w]], #8\n\t"
      "sxtb16 %[a], %[b]\n\tsxtb16 %[b], %[b], ror #8\n\t" //
      NNC_ROW("u", "s0") NNC_ROW(
          "v", "s1") "ldrd %[u], %[v], [%[w]], #8\n\tcmp %[x], %[end]\n\t" //
      NNC_ROW("u", "s2") NNC_ROW("v", "s3") "bne 1b"
      : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3),
        [x] "+&r"(x), [w] "+&r"(w), [u] "=&r"(u), [v] "=&r"(v), [t] "=&r"(t),
        [a] "=&r"(a), [b] "=&r"(b)
      : [end] "r"(end)
      : "cc", "memory");
#undef NNC_ROW
#else
  for (; x != end; x += 4, w += 16) {
    const uint32_t word = load_word(x);
    const uint32_t a = even_bytes(word), b = odd_bytes(word);
    const auto add_row = [&](int32_t sum, uint32_t four) {
      return add_products(add_products(sum, a, even_bytes(four)), b,
                          odd_bytes(four));
    };
    s0 = add_row(s0, load_word(w));
    s1 = add_row(s1, load_word(w + 4));
    s2 = add_row(s2, load_word(w + 8));
    s3 = add_row(s3, load_word(w + 12));
  }
#endif
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
  return w;
}

/// What a layer does with its sums: an expression of bias, multiplier and shift
/// of a channel, and of these constants.
struct dsp_requantization {
  const int32_t *bias, *multiplier, *shift;
  int zero, low, high;
};

/// The nearest number of 8 bits.
NNC_INLINE int32_t dsp_saturate(int32_t x) {
#if defined(NNC_ARM_DSP)
  int32_t v;
  __asm__("ssat %0, #8, %1" : "=r"(v) : "r"(x));
  return v;
#else
  return x < -128 ? -128 : x > 127 ? 127 : x;
#endif
}

/// rescale_double of a number for which the short way below does not hold.
NNC_NOINLINE inline int32_t dsp_rescale(int32_t x, int32_t multiplier,
                                        int32_t shift) {
  return rescale_double(x, multiplier, shift);
}

/// Stores requantized sums of `count` channels from `first` on.
NNC_NOINLINE inline void dsp_requantize(const int32_t *sums, int first,
                                        int count, const dsp_requantization &r,
                                        int8_t *y) {
  const int32_t *bias = r.bias + first, *multiplier = r.multiplier + first,
                *shift = r.shift + first;
  const int zero = r.zero, low = r.low, high = r.high;
  const bool isWhole = low == -128 && high == 127;
  for (const int32_t *end = sums + count; sums != end;) {
    const int32_t x = plus(*sums++, *bias++), m = *multiplier++, s = *shift++;
    int32_t v;
    // Twice x fits in 32 bits, and the shift is one to the right.
    if (NNC_LIKELY(s < 0 && plus(x, int32_t(1) << 30) >= 0)) {
      v = doubled_upper_half(x, m);
      v += v >> 31;
      v = ((v >> ~s) + 1) >> 1;
    } else {
      v = dsp_rescale(x, m, s);
    }
    v = dsp_saturate(v + zero);
    if (!isWhole) {
      v = v < low ? low : v;
      v = v > high ? high : v;
    }
    *y++ = static_cast<int8_t>(v);
  }
}

/// Stores epi(sums[i]) at y[at + i] for `count` channels from `first` on.
template <class Epi, class Y>
NNC_INLINE void dsp_store(const Epi &epi, const int32_t *sums, int first,
                          int count, Y *y, ptrdiff_t at) {
  if constexpr (requantizes<Epi>::value) {
    using form = typename requantizes<Epi>::form;
    const auto &operands = epi.operands;
    const dsp_requantization r = {operands.head.data,
                                  operands.tail.head.data,
                                  operands.tail.tail.head.data,
                                  form::zero,
                                  form::low,
                                  form::high};
    dsp_requantize(sums, first, count, r, y + at);
  } else {
    for (int i = 0; i < count; ++i)
      y[at + i] = epi(sums[i], position<true>{at + i, first + i});
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_DSP_PRODUCTS_H
