//===- transpose.h - Square transposes in registers -----------------------===//
//
// transpose(rows) for W vectors of W lanes, in log2(W) rounds of zips: a zip of
// rows i and i + W/2 moves one bit of the row index into the lane index.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_TRANSPOSE_H
#define NNC_SIMD_TRANSPOSE_H

#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// a0 b0 a1 b1 ... : of the lower halves of a and b, and of the upper ones.
template <int W> NNC_INLINE f32x<W> zip_low(f32x<W> a, f32x<W> b);
template <int W> NNC_INLINE f32x<W> zip_high(f32x<W> a, f32x<W> b);

#if !defined(NNC_PORTABLE_SIMD) && defined(__SSE4_1__)
NNC_INLINE f32x<4> zip_low(f32x<4> a, f32x<4> b) {
  return _mm_unpacklo_ps(a.v, b.v);
}
NNC_INLINE f32x<4> zip_high(f32x<4> a, f32x<4> b) {
  return _mm_unpackhi_ps(a.v, b.v);
}
#if defined(__AVX2__) && defined(__FMA__)
NNC_INLINE f32x<8> zip_low(f32x<8> a, f32x<8> b) {
  return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a.v, b.v),
                                _mm256_unpackhi_ps(a.v, b.v), 0x20);
}
NNC_INLINE f32x<8> zip_high(f32x<8> a, f32x<8> b) {
  return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a.v, b.v),
                                _mm256_unpackhi_ps(a.v, b.v), 0x31);
}
#if defined(__AVX512F__)
NNC_INLINE f32x<16> zip_low(f32x<16> a, f32x<16> b) {
  const __m512i order =
      _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  return _mm512_permutex2var_ps(a.v, order, b.v);
}
NNC_INLINE f32x<16> zip_high(f32x<16> a, f32x<16> b) {
  const __m512i order = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                          13, 29, 14, 30, 15, 31);
  return _mm512_permutex2var_ps(a.v, order, b.v);
}
#endif
#endif
#elif !defined(NNC_PORTABLE_SIMD) && defined(__ARM_NEON)
NNC_INLINE f32x<4> zip_low(f32x<4> a, f32x<4> b) {
  return vzipq_f32(a.v, b.v).val[0];
}
NNC_INLINE f32x<4> zip_high(f32x<4> a, f32x<4> b) {
  return vzipq_f32(a.v, b.v).val[1];
}
#endif

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

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns,
/// both at most W; both step along the other's lanes.
template <int W>
NNC_INLINE void transpose_tile(const float *from, std::ptrdiff_t from_step,
                               int rows, int columns, float *to,
                               std::ptrdiff_t to_step) {
  f32x<W> v[W];
  if (rows == W && columns == W) {
    NNC_UNROLL for (int i = 0; i < W; ++i) v[i] =
        f32x<W>::load(from + i * from_step);
    transpose(v);
    NNC_UNROLL for (int j = 0; j < W; ++j) v[j].store(to + j * to_step);
    return;
  }
  NNC_UNROLL for (int i = 0; i < W; ++i) v[i] =
      i < rows ? f32x<W>::load(from + i * from_step, columns) : f32x<W>(0.0f);
  transpose(v);
  NNC_UNROLL for (int j = 0; j < W; ++j) if (j < columns) v[j].store(
      to + j * to_step, rows);
}

} // namespace nnc

#endif // NNC_SIMD_TRANSPOSE_H
