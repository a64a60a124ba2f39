//===- tile.h - Product of a few rows and weights that are codes ----------===//
//
// y[m][n] = epi(sum over k of x[m][k] * w[n][k]), where w has a code for each
// weight: its index in a table of values, or a Huffman code (decode/plan.h). A
// part of a row of w at a time is decoded to a tile of at most stored_tile
// weights, which stays in the first-level cache, and multiplied by stored_strip
// rows of x. A unit is stored_unit rows of w.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_TILE_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_TILE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/parts.h"
#include "runtime/routines/stored_weights/stored_matmul/plan.h"
#include "runtime/simd/vec_armdsp.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// Sum of the products of `count` floats, in vectors of W lanes.
template <int W>
NNC_FN float stored_dot(const float *x, const float *w, int count) {
  constexpr int chains = 4;
  f32x<W> sum[static_cast<size_t>(chains)];
  NNC_UNROLL for (int i = 0; i < chains; ++i) sum[i] = f32x<W>(0.f);
  int k = 0;
  for (; k + chains * W <= count; k += chains * W)
    NNC_UNROLL for (int i = 0; i < chains; ++i) sum[i] =
        fma(f32x<W>::load(x + k + i * W), f32x<W>::load(w + k + i * W), sum[i]);
  for (; k < count; k += W)
    sum[0] = fma(f32x<W>::load(x + k, smaller(W, count - k)),
                 f32x<W>::load(w + k, smaller(W, count - k)), sum[0]);
  alignas(64) float each[static_cast<size_t>(W)];
  ((sum[0] + sum[1]) + (sum[2] + sum[3])).store(each);
  float all = 0;
  for (int i = 0; i < W; ++i)
    all += each[i];
  return all;
}
/// Sum of the products of `count` integers.
template <int W, class X>
NNC_FN int32_t stored_dot(const X *x, const int8_t *w, int count) {
  int32_t sum = 0;
  int k = 0;
#if defined(NNC_ARM_DSP)
  if constexpr (is_same<X, int8_t>::value)
    NNC_KEEP_LOOP for (; k + 4 <= count; k += 4) {
      const uint32_t a = load_word(x + k), b = load_word(w + k);
      sum = add_products(sum, even_bytes(a), even_bytes(b));
      sum = add_products(sum, odd_bytes(a), odd_bytes(b));
    }
#endif
  for (; k < count; ++k)
    sum += int32_t(x[k]) * int32_t(w[k]);
  return sum;
}

template <template <class, class, int> class Decoder, int W, class S, class Epi>
struct stored_matmul_tile_t {
  NNC_FN static constexpr int units(const S &s) {
    return ceil_div(s.n, rows_of_unit(s));
  }

  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, const unsigned char *w, Y *y,
                         unsigned char *scratch, const Epi &epi, int begin,
                         int end) {
    using T = conditional_t<is_same<X, float>::value, float, int8_t>;
    T *const tile = static_cast<T *>(static_cast<void *>(scratch));
    const Decoder<S, T, W> decoder(
        s, w, scratch + stored_tile_bytes(s, static_cast<int>(sizeof(T))));
    const int step = stored_tile_rows(s);
    const int last = smaller(end * rows_of_unit(s), s.n);
    for (int n = begin * rows_of_unit(s); n < last; n += step)
      if (step > 1)
        rows(s, decoder, x, y, tile, epi, n, smaller(step, last - n));
      else
        row(s, decoder, x, y, tile, epi, n);
  }

private:
  NNC_FN static constexpr int rows_of_unit(const S &s) {
    return stored_tile_rows(s) > 1 ? stored_tile_rows(s) : stored_unit;
  }

  template <class X, class T, class Y>
  NNC_FN static void rows(const S &s, const Decoder<S, T, W> &decoder,
                          const X *x, Y *y, T *tile, const Epi &epi, int first,
                          int count) {
    decoder.decode(ptrdiff_t(first) * s.k, count * s.k, tile);
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < count; ++j)
        store(s, stored_dot<W>(x + ptrdiff_t(i) * s.k, tile + j * s.k, s.k), y,
              epi, i, first + j);
  }

  template <class X, class T, class Y>
  NNC_FN static void row(const S &s, const Decoder<S, T, W> &decoder,
                         const X *x, Y *y, T *tile, const Epi &epi, int n) {
    using Sum = conditional_t<is_same<X, float>::value, float, int32_t>;
    const int length = stored_tile_length(s);
    for (int first = 0; first < s.m; first += stored_strip) {
      const int count = smaller(stored_strip, s.m - first);
      Sum sums[stored_strip] = {};
      for (int k = 0; k < s.k; k += length) {
        const int part = smaller(length, s.k - k);
        decoder.decode(ptrdiff_t(n) * s.k + k, part, tile);
        for (int i = 0; i < count; ++i)
          sums[i] =
              plus(sums[i], stored_dot<W>(x + ptrdiff_t(first + i) * s.k + k,
                                          tile, part));
      }
      for (int i = 0; i < count; ++i)
        store(s, sums[i], y, epi, first + i, n);
    }
  }

  template <class Sum, class Y>
  NNC_FN static void store(const S &s, Sum sum, Y *y, const Epi &epi, int row,
                           int n) {
    const ptrdiff_t at = ptrdiff_t(row) * s.n + n;
    y[at] = epi(sum, position<true>{at, n});
  }
};

#define NNC_STORED_TILE(ISA, W)                                                \
  template <class S, class Epi>                                                \
  using stored_matmul_codes_##ISA =                                            \
      stored_matmul_tile_t<stored_codes, W, S, Epi>;                           \
  template <class S, class Epi>                                                \
  using stored_matmul_huffman_##ISA =                                          \
      stored_matmul_tile_t<stored_huffman, W, S, Epi>;
NNC_STORED_TILE(avx512, 16)
NNC_STORED_TILE(avx2, 8)
NNC_STORED_TILE(rvv, 8)
NNC_STORED_TILE(neon, 4)
NNC_STORED_TILE(sse4, 4)
NNC_STORED_TILE(portable, 4)
#undef NNC_STORED_TILE
template <class S, class Epi>
using stored_matmul_i32_codes_portable = stored_matmul_codes_portable<S, Epi>;
template <class S, class Epi>
using stored_matmul_i32_huffman_portable =
    stored_matmul_huffman_portable<S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_TILE_H
