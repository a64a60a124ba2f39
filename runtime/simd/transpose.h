//===- transpose.h - Square transposes in registers -----------------------===//
//
// transpose(rows) of W vectors of W lanes takes log2(W) rounds of zips. A zip
// of rows i and i + W/2 moves one bit of the row index into the lane index.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_TRANSPOSE_H
#define NNC_SIMD_TRANSPOSE_H

#include "runtime/functions.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// Interleaves (a0 b0 a1 b1 ...) the lower halves of a and b, or their upper
/// halves.
template <int W> NNC_INLINE f32x<W> zip_high(f32x<W> a, f32x<W> b);
template <int W> NNC_INLINE f32x<W> zip_low(f32x<W> a, f32x<W> b) {
  if constexpr (W == 2)
    return {a.lo, b.lo};
  else
    return {zip_low(a.lo, b.lo), zip_high(a.lo, b.lo)};
}
template <int W> NNC_INLINE f32x<W> zip_high(f32x<W> a, f32x<W> b) {
  if constexpr (W == 2)
    return {a.hi, b.hi};
  else
    return {zip_low(a.hi, b.hi), zip_high(a.hi, b.hi)};
}

/// Transposes the W x W matrix of which each vector is a row.
template <int W> NNC_INLINE void transpose(f32x<W> (&rows)[W]) {
  NNC_UNROLL for (int round = 1; round < W; round *= 2) {
    f32x<W> zipped[W];
    NNC_UNROLL for (int i = 0; i < W / 2; ++i) {
      zipped[2 * i] = zip_low(rows[i], rows[i + W / 2]);
      zipped[2 * i + 1] = zip_high(rows[i], rows[i + W / 2]);
    }
    NNC_UNROLL for (int i = 0; i < W; ++i) rows[i] = zipped[i];
  }
}
NNC_INLINE void transpose(f32x<1> (&)[1]) {}

/// Transposes a tile of at most W x W elements: to[j * to_step + i] = from[i *
/// from_step + j] for i < rows, j < columns.
template <int W, class From, class To>
NNC_INLINE void transpose_tile(const From *from, ptrdiff_t from_step, int rows,
                               int columns, To *to, ptrdiff_t to_step) {
  f32x<W> v[W];
  if (rows == W && columns == W) {
    NNC_UNROLL for (int i = 0; i < W; ++i) v[i] =
        load<f32x<W>>(from + i * from_step);
    transpose(v);
    NNC_UNROLL for (int j = 0; j < W; ++j) store(to + j * to_step, v[j]);
    return;
  }
  NNC_UNROLL for (int i = 0; i < W; ++i) v[i] =
      i < rows ? load<f32x<W>>(from + i * from_step, columns) : f32x<W>(0.0f);
  transpose(v);
  NNC_UNROLL for (int j = 0; j < W; ++j) if (j < columns)
      store(to + j * to_step, v[j], rows);
}

} // namespace nnc

#endif // NNC_SIMD_TRANSPOSE_H
