//===- vec_sse4.h - f32x<4> in an SSE4.1 register -------------------------===//
#ifndef NNC_SIMD_VEC_SSE4_H
#define NNC_SIMD_VEC_SSE4_H

#include "runtime/functions.h"
#include "runtime/simd/fold_x86.h"

#if defined(__SSE4_1__) && !defined(NNC_PORTABLE_SIMD)
namespace nnc {

template <> struct maskx<4> {
  __m128 v;
};
template <> struct i32x<4> {
  __m128i v;
  i32x() = default;
  NNC_INLINE i32x(__m128i x) : v(x) {}
  explicit NNC_INLINE i32x(int32_t x) : v(_mm_set1_epi32(x)) {}
};
template <> struct first_lanes_of<f32x<4>> {
  static NNC_INLINE maskx<4> make(int count) {
    return {_mm_castsi128_ps(
        _mm_cmplt_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(count)))};
  }
};
template <> struct f32x<4> {
  __m128 v;
  f32x() = default;
  NNC_INLINE f32x(__m128 x) : v(x) {}
  explicit NNC_INLINE f32x(float x) : v(_mm_set1_ps(x)) {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  static NNC_INLINE f32x load(const float *p) { return _mm_loadu_ps(p); }
  NNC_INLINE void store(float *p) const { _mm_storeu_ps(p, v); }
  static NNC_INLINE void look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
    look_up16_by_lane(table, codes, low, high);
  }
#if defined(__AVX__)
  static NNC_INLINE f32x load(const float *p, int count) {
    return _mm_maskload_ps(
        p, _mm_castps_si128(first_lanes_of<f32x<4>>::make(count).v));
  }
  NNC_INLINE void store(float *p, int count) const {
    _mm_maskstore_ps(
        p, _mm_castps_si128(first_lanes_of<f32x<4>>::make(count).v), v);
  }
#else
  static NNC_INLINE __m128 load_pair(const float *p) {
    return _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64 *>(p));
  }
  static NNC_INLINE f32x load(const float *p, int count) {
    switch (count) {
    case 1:
      return _mm_load_ss(p);
    case 2:
      return load_pair(p);
    case 3:
      return _mm_movelh_ps(load_pair(p), _mm_load_ss(p + 2));
    default:
      return count <= 0 ? _mm_setzero_ps() : _mm_loadu_ps(p);
    }
  }
  NNC_INLINE void store(float *p, int count) const {
    if (count >= 4)
      return _mm_storeu_ps(p, v);
    if (count >= 2)
      _mm_storel_pi(reinterpret_cast<__m64 *>(p), v);
    if (count == 1)
      _mm_store_ss(p, v);
    if (count == 3)
      _mm_store_ss(p + 2, _mm_movehl_ps(v, v));
  }
#endif
};

NNC_INLINE f32x<4> operator+(f32x<4> a, f32x<4> b) {
  return _mm_add_ps(a.v, b.v);
}
NNC_INLINE f32x<4> operator-(f32x<4> a, f32x<4> b) {
  return _mm_sub_ps(a.v, b.v);
}
NNC_INLINE f32x<4> operator*(f32x<4> a, f32x<4> b) {
  return _mm_mul_ps(a.v, b.v);
}
NNC_INLINE f32x<4> operator/(f32x<4> a, f32x<4> b) {
  return _mm_div_ps(a.v, b.v);
}
NNC_INLINE f32x<4> fma(f32x<4> a, f32x<4> b, f32x<4> c) {
#if defined(__FMA__)
  return _mm_fmadd_ps(a.v, b.v, c.v);
#else
  return _mm_add_ps(_mm_mul_ps(a.v, b.v), c.v);
#endif
}
NNC_INLINE f32x<4> max_fast(f32x<4> a, f32x<4> b) {
  return _mm_max_ps(a.v, b.v);
}
NNC_INLINE f32x<4> min_fast(f32x<4> a, f32x<4> b) {
  return _mm_min_ps(a.v, b.v);
}
NNC_INLINE f32x<4> vec_sqrt(f32x<4> a) { return _mm_sqrt_ps(a.v); }
NNC_INLINE f32x<4> vec_floor(f32x<4> a) { return _mm_floor_ps(a.v); }
NNC_INLINE f32x<4> vec_ceil(f32x<4> a) { return _mm_ceil_ps(a.v); }
NNC_INLINE f32x<4> vec_trunc(f32x<4> a) {
  return _mm_round_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
NNC_INLINE f32x<4> vec_round(f32x<4> a) {
  return _mm_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

NNC_INLINE maskx<4> operator<(f32x<4> a, f32x<4> b) {
  return {_mm_cmplt_ps(a.v, b.v)};
}
NNC_INLINE maskx<4> operator<=(f32x<4> a, f32x<4> b) {
  return {_mm_cmple_ps(a.v, b.v)};
}
NNC_INLINE maskx<4> operator==(f32x<4> a, f32x<4> b) {
  return {_mm_cmpeq_ps(a.v, b.v)};
}
NNC_INLINE maskx<4> operator&(maskx<4> a, maskx<4> b) {
  return {_mm_and_ps(a.v, b.v)};
}
NNC_INLINE maskx<4> operator|(maskx<4> a, maskx<4> b) {
  return {_mm_or_ps(a.v, b.v)};
}
NNC_INLINE maskx<4> operator!(maskx<4> a) {
  return {_mm_xor_ps(a.v, _mm_castsi128_ps(_mm_set1_epi32(-1)))};
}
// Needed beside the template of vec.h, because C++20 would otherwise prefer a
// rewritten operator==.
NNC_INLINE maskx<4> operator!=(f32x<4> a, f32x<4> b) { return !(a == b); }
NNC_INLINE bool any(maskx<4> a) { return _mm_movemask_ps(a.v) != 0; }
NNC_INLINE f32x<4> select(maskx<4> m, f32x<4> a, f32x<4> b) {
  return _mm_blendv_ps(b.v, a.v, m.v);
}
NNC_INLINE i32x<4> select(maskx<4> m, i32x<4> a, i32x<4> b) {
  return _mm_blendv_epi8(b.v, a.v, _mm_castps_si128(m.v));
}

NNC_INLINE i32x<4> bit_cast_int(f32x<4> a) { return _mm_castps_si128(a.v); }
NNC_INLINE f32x<4> bit_cast_float(i32x<4> a) { return _mm_castsi128_ps(a.v); }
NNC_INLINE i32x<4> to_int(f32x<4> a) { return _mm_cvttps_epi32(a.v); }
NNC_INLINE i32x<4> to_nearest_int(f32x<4> a) { return _mm_cvtps_epi32(a.v); }
NNC_INLINE f32x<4> to_float(i32x<4> a) { return _mm_cvtepi32_ps(a.v); }

NNC_INLINE i32x<4> operator+(i32x<4> a, i32x<4> b) {
  return _mm_add_epi32(a.v, b.v);
}
NNC_INLINE i32x<4> operator-(i32x<4> a, i32x<4> b) {
  return _mm_sub_epi32(a.v, b.v);
}
NNC_INLINE i32x<4> operator&(i32x<4> a, i32x<4> b) {
  return _mm_and_si128(a.v, b.v);
}
NNC_INLINE i32x<4> operator|(i32x<4> a, i32x<4> b) {
  return _mm_or_si128(a.v, b.v);
}
NNC_INLINE i32x<4> operator^(i32x<4> a, i32x<4> b) {
  return _mm_xor_si128(a.v, b.v);
}
template <int N> NNC_INLINE i32x<4> shift_left(i32x<4> a) {
  return _mm_slli_epi32(a.v, N);
}
template <int N> NNC_INLINE i32x<4> shift_right(i32x<4> a) {
  return _mm_srai_epi32(a.v, N);
}
template <int N> NNC_INLINE i32x<4> shift_right_logical(i32x<4> a) {
  return _mm_srli_epi32(a.v, N);
}
NNC_INLINE maskx<4> operator==(i32x<4> a, i32x<4> b) {
  return {_mm_castsi128_ps(_mm_cmpeq_epi32(a.v, b.v))};
}
NNC_INLINE maskx<4> operator<(i32x<4> a, i32x<4> b) {
  return {_mm_castsi128_ps(_mm_cmplt_epi32(a.v, b.v))};
}

NNC_INLINE f32x<4> zip_low(f32x<4> a, f32x<4> b) {
  return _mm_unpacklo_ps(a.v, b.v);
}
NNC_INLINE f32x<4> zip_high(f32x<4> a, f32x<4> b) {
  return _mm_unpackhi_ps(a.v, b.v);
}

NNC_INLINE float reduce_add(f32x<4> a) { return fold<add_lanes>(a.v); }
NNC_INLINE float reduce_max(f32x<4> a) { return fold<max_lanes>(a.v); }
NNC_INLINE float reduce_min(f32x<4> a) { return fold<min_lanes>(a.v); }

} // namespace nnc

#endif // __SSE4_1__

#endif // NNC_SIMD_VEC_SSE4_H
