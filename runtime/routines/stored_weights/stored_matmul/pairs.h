//===- pairs.h - Product of bytes and codes of 4 bits, two at a time ------===//
//
// y[m][n] = epi(sum over k of x[m][k] * w[n][k]), where x and w are i8 and a
// byte of w holds the indices of two weights in a table of 16 values. A table
// with an entry for each of the 256 bytes holds both values as a pair of 16-bit
// numbers, which Arm's DSP extension multiplies by a pair of x at once. Beside
// the multiply-add, two instructions decode two weights. Weights have the order
// stored_quads. A unit is a row of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PAIRS_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PAIRS_H

#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/dsp_products.h"
#include "runtime/routines/stored_weights/stored_matmul/plan.h"

namespace nnc {

/// Fills the table of pairs. The lower half of a pair is the value for the
/// lower four bits of a byte.
NNC_NOINLINE inline void stored_fill_pairs(const int8_t *values, int count,
                                           uint32_t *pairs) {
  uint32_t low[16] = {};
  for (int i = 0; i < count; ++i)
    low[i] = static_cast<uint32_t>(values[i]) & 0xffffu;
  NNC_KEEP_LOOP for (int high = 0; high < 16; ++high, pairs += 16)
      NNC_UNROLL for (int i = 0; i < 16; ++i) pairs[i] =
          low[high] << 16 | low[i];
}

/// Returns `sum` plus the products of a pair of x and a pair of weights.
NNC_INLINE int32_t stored_add_pair(int32_t sum, uint32_t x, uint32_t pair) {
#if defined(NNC_ARM_DSP)
  return add_products(sum, x, pair);
#else
  const auto low = [](uint32_t v) { return static_cast<int16_t>(v & 0xffffu); };
  const auto high = [](uint32_t v) { return static_cast<int16_t>(v >> 16); };
  return sum + low(x) * low(pair) + high(x) * high(pair);
#endif
}

/// Computes the sums of one row of bytes x[4 * words] and four rows of weights;
/// returns the end of these.
NNC_NOINLINE inline const unsigned char *
stored_multiply_row(const int8_t *x, const unsigned char *w,
                    const uint32_t *pairs, int words, int32_t *sums) {
  int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  const int8_t *end = x + 4 * words;
#if defined(NNC_ARM_DSP_LOOPS)
  // Two rows of weights: the pairs of the four bytes of a word.
#define NNC_ROWS(WORD, FIRST, SECOND)                                          \
  "uxtb %[t], %[" WORD "]\n\tldr %[t], [%[p], %[t], lsl #2]\n\t"               \
  "ubfx %[q], %[" WORD "], #8, #8\n\tldr %[q], [%[p], %[q], lsl #2]\n\t"       \
  "smlad %[" FIRST "], %[a], %[t], %[" FIRST "]\n\t"                           \
  "ubfx %[t], %[" WORD "], #16, #8\n\tldr %[t], [%[p], %[t], lsl #2]\n\t"      \
  "smlad %[" FIRST "], %[b], %[q], %[" FIRST "]\n\t"                           \
  "lsrs %[" WORD "], %[" WORD "], #24\n\t"                                     \
  "ldr %[" WORD "], [%[p], %[" WORD "], lsl #2]\n\t"                           \
  "smlad %[" SECOND "], %[a], %[t], %[" SECOND "]\n\t"                         \
  "smlad %[" SECOND "], %[b], %[" WORD "], %[" SECOND "]\n\t"
  uint32_t u, v, t, q, a, b;
  __asm__ volatile(
      "1:\n\tldr %[b], [%[x]], #4\n\t"
      "ldrd %[u], %[v], [%[w]], #8\n\t"
      "sxtb16 %[a], %[b]\n\tsxtb16 %[b], %[b], ror #8\n\t" //
      NNC_ROWS("u", "s0", "s1") NNC_ROWS("v", "s2", "s3")  //
      "cmp %[x], %[end]\n\tbne 1b"
      : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3),
        [x] "+&r"(x), [w] "+&r"(w), [u] "=&r"(u), [v] "=&r"(v), [t] "=&r"(t),
        [q] "=&r"(q), [a] "=&r"(a), [b] "=&r"(b)
      : [end] "r"(end), [p] "r"(pairs)
      : "cc", "memory");
#undef NNC_ROWS
#else
  NNC_KEEP_LOOP for (; x < end; x += 4, w += 8) {
#if defined(NNC_ARM_DSP)
    const uint32_t word = load_word(x);
    const uint32_t a = even_bytes(word), b = odd_bytes(word);
#else
    const auto pair = [&](int i, int j) {
      return (static_cast<uint32_t>(x[i]) & 0xffffu) |
             static_cast<uint32_t>(x[j]) << 16;
    };
    const uint32_t a = pair(0, 2), b = pair(1, 3);
#endif
    const auto add = [&](int32_t sum, const unsigned char *two) {
      return stored_add_pair(stored_add_pair(sum, a, pairs[two[0]]), b,
                             pairs[two[1]]);
    };
    s0 = add(s0, w);
    s1 = add(s1, w + 2);
    s2 = add(s2, w + 4);
    s3 = add(s3, w + 6);
  }
#endif
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
  return w;
}

template <class S, class Epi> struct stored_matmul_i32_pairs_armdsp {
  static constexpr int units(const S &s) { return s.m; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const unsigned char *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    auto *pairs = static_cast<uint32_t *>(static_cast<void *>(scratch));
    stored_fill_pairs(static_cast<const int8_t *>(static_cast<const void *>(w)),
                      s.values, pairs);
    for (int unit = begin; unit < end; ++unit) {
      const unsigned char *codes = w + s.values;
      const ptrdiff_t at = ptrdiff_t(unit) * s.n;
      for (int n = 0; n < s.n; n += 4) {
        int32_t sums[4];
        codes = stored_multiply_row(x + ptrdiff_t(unit) * s.k, codes, pairs,
                                    s.k / 4, sums);
        dsp_store(epi, sums, n, smaller(4, s.n - n), y, at + n);
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PAIRS_H
