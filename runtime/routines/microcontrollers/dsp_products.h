//===- dsp_products.h - Sums of products of bytes as pairs ----------------===//
//
// Functions that the routines of the instruction set `armdsp` share. They are
// not templates and take run-time sizes, so that a module contains each of them
// once, however many layers it has.
//
// A column holds factors as pairs of 16 bits: four bytes b0, b1, b2, b3 become
// the pairs (b0, b2) and (b1, b3). Two columns are interleaved in memory: two
// pairs of one column, then two of the other. Weights are bytes w[n / N][k /
// 4][N][4]: a word of each of N rows, then the next words.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MICROCONTROLLERS_DSP_PRODUCTS_H
#define NNC_ROUTINES_MICROCONTROLLERS_DSP_PRODUCTS_H

#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/requantization.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_armdsp.h"

// Whole loops in assembly need almost all registers. With clang and in
// unoptimized code fewer are available; there the same loops are in C++.
#if defined(NNC_ARM_DSP) && defined(__OPTIMIZE__) && !defined(__clang__)
#define NNC_ARM_DSP_LOOPS 1
#endif

// A function that a module contains once, whose copies for constant arguments
// would cost more bytes than they save time.
#if defined(__GNUC__) && !defined(__clang__)
#define NNC_ONCE __attribute__((noinline, noclone)) inline
#else
#define NNC_ONCE NNC_NOINLINE inline
#endif

// NNC_ONCE_RARELY is for such functions that rarely run: it makes them small.
// g++ then makes their callers small, too, which costs time unless the inner
// loops are written in assembly.
#if defined(__GNUC__) && (defined(NNC_ARM_DSP_LOOPS) || defined(__thumb__))
#define NNC_ONCE_RARELY __attribute__((cold)) NNC_ONCE
#else
#define NNC_ONCE_RARELY NNC_ONCE
#endif

#if defined(__GNUC__)
#define NNC_LIKELY(condition) __builtin_expect(condition, 1)
#else
#define NNC_LIKELY(condition) (condition)
#endif

namespace nnc {

// The instructions of dsp_multiply_tile for a word of weights, with
// the temporaries u, v, t, q, a and b.
#define NNC_DSP_WORD                                                           \
  "ldrd %[u], %[v], [%[w]], #8\n\t"                                            \
  "ldrd %[a], %[b], [%[x]], #8\n\t"                                            \
  "sxtb16 %[t], %[u]\n\t"                                                      \
  "sxtb16 %[q], %[v]\n\t"                                                      \
  "sxtb16 %[u], %[u], ror #8\n\t"                                              \
  "sxtb16 %[v], %[v], ror #8\n\t"                                              \
  "smlad %[s00], %[a], %[t], %[s00]\n\t"                                       \
  "smlad %[s01], %[a], %[q], %[s01]\n\t"                                       \
  "smlad %[s00], %[b], %[u], %[s00]\n\t"                                       \
  "smlad %[s01], %[b], %[v], %[s01]\n\t"                                       \
  "ldrd %[a], %[b], [%[x]], #8\n\t"                                            \
  "smlad %[s10], %[a], %[t], %[s10]\n\t"                                       \
  "smlad %[s11], %[a], %[q], %[s11]\n\t"                                       \
  "smlad %[s10], %[b], %[u], %[s10]\n\t"                                       \
  "smlad %[s11], %[b], %[v], %[s11]\n\t"
#define NNC_DSP_TILE                                                           \
  "1:\n\t" NNC_DSP_WORD "cmp %[x], %[end]\n\t"                                 \
  "bne 1b\n\t"
// Two words at a time, unless code is to be small. An odd number of words, of
// 16 bytes of columns each, begins with the second one.
#if defined(__OPTIMIZE_SIZE__)
#define NNC_DSP_TILE_IN_TWOS NNC_DSP_TILE
#else
#define NNC_DSP_TILE_IN_TWOS                                                   \
  "sub %[t], %[end], %[x]\n\t"                                                 \
  "lsls %[t], %[t], #27\n\t"                                                   \
  "bmi 3f\n\t"                                                                 \
  "1:\n\t" NNC_DSP_WORD "3:\n\t" NNC_DSP_WORD "cmp %[x], %[end]\n\t"           \
  "bne 1b\n\t"
#endif

/// Adds the products of both columns, from x to `end`, and of the words of two
/// rows of weights to the sums of each column and row; returns the end of the
/// weights.
NNC_INLINE const int8_t *dsp_multiply_tile(const uint32_t *x,
                                           const uint32_t *end, const int8_t *w,
                                           int32_t &sum00, int32_t &sum01,
                                           int32_t &sum10, int32_t &sum11) {
  int32_t s00 = sum00, s01 = sum01, s10 = sum10, s11 = sum11;
#if defined(NNC_ARM_DSP_LOOPS)
  // Compilers keep neither all sums in registers nor use loads of two words
  // that step their pointers. Operands that change are marked as written
  // early, since `end` may begin with the value of one of them.
  uint32_t u, v, t, q, a, b;
  __asm__ volatile(
      NNC_DSP_TILE
      : [s00] "+&r"(s00), [s01] "+&r"(s01), [s10] "+&r"(s10), [s11] "+&r"(s11),
        [x] "+&r"(x), [w] "+&r"(w), [u] "=&r"(u), [v] "=&r"(v), [t] "=&r"(t),
        [q] "=&r"(q), [a] "=&r"(a), [b] "=&r"(b)
      : [end] "r"(end)
      : "cc", "memory");
#elif defined(NNC_ARM_DSP)
  for (; x != end; x += 4, w += 8) {
    const uint32_t u = load_word(w), v = load_word(w + 4);
    const uint32_t ue = even_bytes(u), uo = odd_bytes(u);
    const uint32_t ve = even_bytes(v), vo = odd_bytes(v);
    s00 = add_products(add_products(s00, x[0], ue), x[1], uo);
    s01 = add_products(add_products(s01, x[0], ve), x[1], vo);
    s10 = add_products(add_products(s10, x[2], ue), x[3], uo);
    s11 = add_products(add_products(s11, x[2], ve), x[3], vo);
  }
#else
  for (; x != end; x += 4, w += 8)
    NNC_UNROLL for (int i = 0; i < 4; ++i) {
      const int32_t a = number_in_pairs(x, i), b = number_in_pairs(x + 2, i);
      s00 = add_product(s00, a, w[i]);
      s01 = add_product(s01, a, w[i + 4]);
      s10 = add_product(s10, b, w[i]);
      s11 = add_product(s11, b, w[i + 4]);
    }
#endif
  sum00 = s00, sum01 = s01, sum10 = s10, sum11 = s11;
  return w;
}

/// Computes sums[p * sums_step + r] for both columns p and rows r of weights,
/// of which there are `rows`, rounded up to a multiple of two. A column has
/// `words` words of weights.
NNC_ONCE void dsp_multiply_two(const uint32_t *columns, const int8_t *w,
                               int rows, int words, int32_t *sums,
                               int sums_step) {
  const uint32_t *end = columns + 4 * words;
  for (int r = 0; r < rows; r += 2, sums += 2) {
    int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    w = dsp_multiply_tile(columns, end, w, s00, s01, s10, s11);
    sums[0] = s00, sums[1] = s01;
    sums[sums_step] = s10, sums[sums_step + 1] = s11;
  }
}

/// Computes the sums of one row of bytes x[4 * words] and four rows of weights;
/// returns the end of these.
NNC_ONCE const int8_t *dsp_multiply_row(const int8_t *x, const int8_t *w,
                                        int words, int32_t *sums) {
  const int8_t *end = x + 4 * words;
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#if defined(NNC_ARM_DSP_LOOPS)
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
      NNC_ROW("u", "s2") NNC_ROW("v", "s3") "bne 1b\n\t"
      : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3),
        [x] "+&r"(x), [w] "+&r"(w), [u] "=&r"(u), [v] "=&r"(v), [t] "=&r"(t),
        [a] "=&r"(a), [b] "=&r"(b)
      : [end] "r"(end)
      : "cc", "memory");
#undef NNC_ROW
#elif defined(NNC_ARM_DSP)
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
#else
  for (; x != end; x += 4, w += 16)
    NNC_UNROLL for (int i = 0; i < 4; ++i) {
      s0 = add_product(s0, x[i], w[i]);
      s1 = add_product(s1, x[i], w[i + 4]);
      s2 = add_product(s2, x[i], w[i + 8]);
      s3 = add_product(s3, x[i], w[i + 12]);
    }
#endif
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
  return w;
}

/// Returns x saturated to 8 bits.
NNC_INLINE int32_t dsp_saturate(int32_t x) {
#if defined(NNC_ARM_DSP)
  int32_t v;
  __asm__("ssat %0, #8, %1" : "=r"(v) : "r"(x));
  return v;
#else
  return x < -128 ? -128 : x > 127 ? 127 : x;
#endif
}

/// Returns rescale_double of a number for which dsp_is_usual() is false.
NNC_ONCE int32_t dsp_rescale(int32_t x, int32_t multiplier, int32_t shift) {
  return rescale_double(x, multiplier, shift);
}

/// Returns true if dsp_rescale_down() is correct for x and this shift: 2 * x
/// fits in 32 bits, and the shift is to the right.
NNC_INLINE bool dsp_is_usual(int32_t x, int32_t shift) {
  return NNC_LIKELY(shift < 0 && plus(x, int32_t(1) << 30) >= 0);
}
/// Returns rescale_double(x, multiplier, shift) + zero if dsp_is_usual(x,
/// shift).
NNC_INLINE int32_t dsp_rescale_down(int32_t x, int32_t multiplier,
                                    int32_t shift, int32_t zero) {
  int32_t v = doubled_upper_half(x, multiplier);
  v += v >> 31;
#if defined(NNC_ARM_DSP)
  // The last bit that is shifted out, by which the quotient is rounded, is the
  // carry.
  __asm__("asrs %0, %0, %1\n\tadc %0, %0, %2"
          : "+&r"(v)
          : "r"(-shift), "r"(zero)
          : "cc");
  return v;
#else
  return (v >> -shift) + ((v >> (-shift - 1)) & 1) + zero;
#endif
}

/// Stores requantized sums of `count` channels from `first` on.
NNC_ONCE void dsp_requantize(const int32_t *sums, int first, int count,
                             const requantization &r, int8_t *y) {
  const int32_t *bias = r.bias + first, *multiplier = r.multiplier + first,
                *shift = r.shift + first;
  const int zero = r.zero, low = r.low, high = r.high;
  for (const int32_t *end = sums + count; sums != end;) {
    const int32_t x = plus(*sums++, *bias++), m = *multiplier++, s = *shift++;
    int32_t v = dsp_is_usual(x, s) ? dsp_rescale_down(x, m, s, zero)
                                   : dsp_rescale(x, m, s) + zero;
    v = v < low ? low : v;
    v = v > high ? high : v;
    *y++ = static_cast<int8_t>(v);
  }
}

/// Stores epi(sums[i]) at y[at + i] for `count` channels from `first` on.
template <class Epi, class Y>
NNC_INLINE void dsp_store(const Epi &epi, const int32_t *sums, int first,
                          int count, Y *y, ptrdiff_t at) {
  if constexpr (requantizes<Epi>::value) {
    const requantization r = make_requantization(epi);
    dsp_requantize(sums, first, count, r, y + at);
  } else {
    for (int i = 0; i < count; ++i)
      y[at + i] = epi(sums[i], position<true>{at + i, first + i});
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_MICROCONTROLLERS_DSP_PRODUCTS_H
