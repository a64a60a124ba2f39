//===- vec_avx2.h - f32x<8> in an AVX2 register ---------------------------===//
#ifndef NNC_SIMD_VEC_AVX2_H
#define NNC_SIMD_VEC_AVX2_H

#include "runtime/functions.h"
#include "runtime/simd/fold_x86.h"

#if defined(__AVX2__) && defined(__FMA__) && !defined(NNC_PORTABLE_SIMD)
/// Says that this header is included; see vec_neon.h.
#define NNC_AVX2_VECTORS

namespace nnc {

template <> struct maskx<8> {
  __m256 v;
};
template <> struct i32x<8> {
  __m256i v;
  i32x() = default;
  NNC_INLINE i32x(__m256i x) : v(x) {}
  explicit NNC_INLINE i32x(int32_t x) : v(_mm256_set1_epi32(x)) {}
};
template <> struct first_lanes_of<f32x<8>> {
  static NNC_INLINE maskx<8> make(int count) {
    return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(
        _mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)))};
  }
};
template <> struct f32x<8> {
  __m256 v;
  f32x() = default;
  NNC_INLINE f32x(__m256 x) : v(x) {}
  explicit NNC_INLINE f32x(float x) : v(_mm256_set1_ps(x)) {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  static NNC_INLINE f32x load(const float *p) { return _mm256_loadu_ps(p); }
  NNC_INLINE void store(float *p) const { _mm256_storeu_ps(p, v); }
  static NNC_INLINE void look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
    const __m256i index = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i *>(codes)));
    const __m256 first = _mm256_loadu_ps(table),
                 second = _mm256_loadu_ps(table + 8);
    // The lowest three bits of an index choose in both halves of the table, the
    // fourth, moved to the sign, between them.
    const auto choose = [&](__m256i at) {
      return _mm256_blendv_ps(_mm256_permutevar8x32_ps(first, at),
                              _mm256_permutevar8x32_ps(second, at),
                              _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));
    };
    low = choose(index);
    high = choose(_mm256_srli_epi32(index, 4));
  }
  static NNC_INLINE f32x load(const float *p, int count) {
    return _mm256_maskload_ps(
        p, _mm256_castps_si256(first_lanes_of<f32x<8>>::make(count).v));
  }
  NNC_INLINE void store(float *p, int count) const {
    _mm256_maskstore_ps(
        p, _mm256_castps_si256(first_lanes_of<f32x<8>>::make(count).v), v);
  }
};

NNC_INLINE f32x<8> operator+(f32x<8> a, f32x<8> b) {
  return _mm256_add_ps(a.v, b.v);
}
NNC_INLINE f32x<8> operator-(f32x<8> a, f32x<8> b) {
  return _mm256_sub_ps(a.v, b.v);
}
NNC_INLINE f32x<8> operator*(f32x<8> a, f32x<8> b) {
  return _mm256_mul_ps(a.v, b.v);
}
NNC_INLINE f32x<8> operator/(f32x<8> a, f32x<8> b) {
  return _mm256_div_ps(a.v, b.v);
}
NNC_INLINE f32x<8> fma(f32x<8> a, f32x<8> b, f32x<8> c) {
  return _mm256_fmadd_ps(a.v, b.v, c.v);
}
NNC_INLINE f32x<8> max_fast(f32x<8> a, f32x<8> b) {
  return _mm256_max_ps(a.v, b.v);
}
NNC_INLINE f32x<8> min_fast(f32x<8> a, f32x<8> b) {
  return _mm256_min_ps(a.v, b.v);
}
NNC_INLINE f32x<8> vec_sqrt(f32x<8> a) { return _mm256_sqrt_ps(a.v); }
NNC_INLINE f32x<8> vec_floor(f32x<8> a) { return _mm256_floor_ps(a.v); }
NNC_INLINE f32x<8> vec_ceil(f32x<8> a) { return _mm256_ceil_ps(a.v); }
NNC_INLINE f32x<8> vec_trunc(f32x<8> a) {
  return _mm256_round_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
NNC_INLINE f32x<8> vec_round(f32x<8> a) {
  return _mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

NNC_INLINE maskx<8> operator<(f32x<8> a, f32x<8> b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)};
}
NNC_INLINE maskx<8> operator<=(f32x<8> a, f32x<8> b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)};
}
NNC_INLINE maskx<8> operator==(f32x<8> a, f32x<8> b) {
  return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)};
}
NNC_INLINE maskx<8> operator&(maskx<8> a, maskx<8> b) {
  return {_mm256_and_ps(a.v, b.v)};
}
NNC_INLINE maskx<8> operator|(maskx<8> a, maskx<8> b) {
  return {_mm256_or_ps(a.v, b.v)};
}
NNC_INLINE maskx<8> operator!(maskx<8> a) {
  return {_mm256_xor_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))};
}
// Needed beside the template of vec.h, because C++20 would otherwise prefer a
// rewritten operator==.
NNC_INLINE maskx<8> operator!=(f32x<8> a, f32x<8> b) { return !(a == b); }
NNC_INLINE bool any(maskx<8> a) { return _mm256_movemask_ps(a.v) != 0; }
NNC_INLINE f32x<8> select(maskx<8> m, f32x<8> a, f32x<8> b) {
  return _mm256_blendv_ps(b.v, a.v, m.v);
}
NNC_INLINE i32x<8> select(maskx<8> m, i32x<8> a, i32x<8> b) {
  return _mm256_blendv_epi8(b.v, a.v, _mm256_castps_si256(m.v));
}

NNC_INLINE i32x<8> bit_cast_int(f32x<8> a) { return _mm256_castps_si256(a.v); }
NNC_INLINE f32x<8> bit_cast_float(i32x<8> a) {
  return _mm256_castsi256_ps(a.v);
}
NNC_INLINE i32x<8> to_int(f32x<8> a) { return _mm256_cvttps_epi32(a.v); }
NNC_INLINE i32x<8> to_nearest_int(f32x<8> a) { return _mm256_cvtps_epi32(a.v); }
NNC_INLINE f32x<8> to_float(i32x<8> a) { return _mm256_cvtepi32_ps(a.v); }

NNC_INLINE i32x<8> operator+(i32x<8> a, i32x<8> b) {
  return _mm256_add_epi32(a.v, b.v);
}
NNC_INLINE i32x<8> operator-(i32x<8> a, i32x<8> b) {
  return _mm256_sub_epi32(a.v, b.v);
}
NNC_INLINE i32x<8> operator&(i32x<8> a, i32x<8> b) {
  return _mm256_and_si256(a.v, b.v);
}
NNC_INLINE i32x<8> operator|(i32x<8> a, i32x<8> b) {
  return _mm256_or_si256(a.v, b.v);
}
NNC_INLINE i32x<8> operator^(i32x<8> a, i32x<8> b) {
  return _mm256_xor_si256(a.v, b.v);
}
template <int N> NNC_INLINE i32x<8> shift_left(i32x<8> a) {
  return _mm256_slli_epi32(a.v, N);
}
template <int N> NNC_INLINE i32x<8> shift_right(i32x<8> a) {
  return _mm256_srai_epi32(a.v, N);
}
template <int N> NNC_INLINE i32x<8> shift_right_logical(i32x<8> a) {
  return _mm256_srli_epi32(a.v, N);
}
NNC_INLINE maskx<8> operator==(i32x<8> a, i32x<8> b) {
  return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v))};
}
NNC_INLINE maskx<8> operator<(i32x<8> a, i32x<8> b) {
  return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(b.v, a.v))};
}

NNC_INLINE f32x<8> zip_low(f32x<8> a, f32x<8> b) {
  return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a.v, b.v),
                                _mm256_unpackhi_ps(a.v, b.v), 0x20);
}
NNC_INLINE f32x<8> zip_high(f32x<8> a, f32x<8> b) {
  return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a.v, b.v),
                                _mm256_unpackhi_ps(a.v, b.v), 0x31);
}

NNC_INLINE float reduce_add(f32x<8> a) { return fold<add_lanes>(a.v); }
NNC_INLINE float reduce_max(f32x<8> a) { return fold<max_lanes>(a.v); }
NNC_INLINE float reduce_min(f32x<8> a) { return fold<min_lanes>(a.v); }

} // namespace nnc

#endif // __AVX2__

#endif // NNC_SIMD_VEC_AVX2_H
