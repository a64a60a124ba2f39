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

#include "runtime/simd/vec_armdsp.h"

#if defined(__GNUC__)
#define NNC_NOINLINE __attribute__((noinline))
#else
#define NNC_NOINLINE
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
    int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (const uint32_t *end = x0 + 2 * words; x0 != end;) {
      const uint32_t a0 = x0[0], a1 = x0[1], b0 = x1[0], b1 = x1[1];
      x0 += 2, x1 += 2;
      const uint32_t u = load_word(w), ue = even_bytes(u), uo = odd_bytes(u);
      s00 = add_products(s00, a0, ue);
      s10 = add_products(s10, b0, ue);
      s00 = add_products(s00, a1, uo);
      s10 = add_products(s10, b1, uo);
      const uint32_t v = load_word(w + 4), ve = even_bytes(v),
                     vo = odd_bytes(v);
      w += 8;
      s01 = add_products(s01, a0, ve);
      s11 = add_products(s11, b0, ve);
      s01 = add_products(s01, a1, vo);
      s11 = add_products(s11, b1, vo);
    }
    sums[0] = s00, sums[1] = s01;
    sums[sums_step] = s10, sums[sums_step + 1] = s11;
  }
}

/// Computes sums[r] for one column and rows of weights in fours.
NNC_NOINLINE inline void dsp_multiply_one(const uint32_t *column,
                                          const int8_t *w, int rows, int words,
                                          int32_t *sums) {
  for (int r = 0; r < rows; r += 4, sums += 4) {
    const uint32_t *x = column;
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (const uint32_t *end = x + 2 * words; x != end; x += 2, w += 16) {
      const uint32_t a = x[0], b = x[1];
      const uint32_t w0 = load_word(w), w1 = load_word(w + 4),
                     w2 = load_word(w + 8), w3 = load_word(w + 12);
      s0 = add_products(s0, a, even_bytes(w0));
      s0 = add_products(s0, b, odd_bytes(w0));
      s1 = add_products(s1, a, even_bytes(w1));
      s1 = add_products(s1, b, odd_bytes(w1));
      s2 = add_products(s2, a, even_bytes(w2));
      s2 = add_products(s2, b, odd_bytes(w2));
      s3 = add_products(s3, a, even_bytes(w3));
      s3 = add_products(s3, b, odd_bytes(w3));
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_DSP_PRODUCTS_H
