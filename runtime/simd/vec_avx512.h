//===- vec_avx512.h - f32x<16> in an AVX-512 register ---------------------===//
#ifndef NNC_SIMD_VEC_AVX512_H
#define NNC_SIMD_VEC_AVX512_H

#include "runtime/functions.h"
#include "runtime/simd/fold_x86.h"

#if defined(__AVX512F__) && defined(__FMA__) && !defined(NNC_PORTABLE_SIMD)
/// Says that this header is included; see vec_neon.h.
#define NNC_AVX512_VECTORS

namespace nnc {

// Intrinsics whose unmasked form passes an undefined vector in g++ 12's header,
// of which it warns, are called in their form with a mask of all lanes, for
// which both compilers emit the same instruction.

template <> struct maskx<16> {
  __mmask16 v;
};
template <> struct i32x<16> {
  __m512i v;
  i32x() = default;
  NNC_INLINE i32x(__m512i x) : v(x) {}
  explicit NNC_INLINE i32x(int32_t x) : v(_mm512_set1_epi32(x)) {}
};
template <> struct first_lanes_of<f32x<16>> {
  static NNC_INLINE maskx<16> make(int count) {
    if (count >= 16)
      return {static_cast<__mmask16>(0xffff)};
    return {static_cast<__mmask16>(count <= 0 ? 0 : (1u << count) - 1)};
  }
};
template <> struct f32x<16> {
  __m512 v;
  f32x() = default;
  NNC_INLINE f32x(__m512 x) : v(x) {}
  explicit NNC_INLINE f32x(float x) : v(_mm512_set1_ps(x)) {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  static NNC_INLINE f32x load(const float *p) { return _mm512_loadu_ps(p); }
  NNC_INLINE void store(float *p) const { _mm512_storeu_ps(p, v); }
  static NNC_INLINE void look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
    // The instruction reads the lowest four bits of each index.
    const __m512i index = _mm512_maskz_cvtepu8_epi32(
        0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i *>(codes)));
    const __m512 values = _mm512_loadu_ps(table);
    low = _mm512_maskz_permutexvar_ps(0xffff, index, values);
    high = _mm512_maskz_permutexvar_ps(
        0xffff, _mm512_maskz_srli_epi32(0xffff, index, 4), values);
  }
  static NNC_INLINE f32x load(const float *p, int count) {
    return _mm512_maskz_loadu_ps(first_lanes_of<f32x<16>>::make(count).v, p);
  }
  NNC_INLINE void store(float *p, int count) const {
    _mm512_mask_storeu_ps(p, first_lanes_of<f32x<16>>::make(count).v, v);
  }
};

NNC_INLINE f32x<16> operator+(f32x<16> a, f32x<16> b) {
  return _mm512_add_ps(a.v, b.v);
}
NNC_INLINE f32x<16> operator-(f32x<16> a, f32x<16> b) {
  return _mm512_sub_ps(a.v, b.v);
}
NNC_INLINE f32x<16> operator*(f32x<16> a, f32x<16> b) {
  return _mm512_mul_ps(a.v, b.v);
}
NNC_INLINE f32x<16> operator/(f32x<16> a, f32x<16> b) {
  return _mm512_div_ps(a.v, b.v);
}
NNC_INLINE f32x<16> fma(f32x<16> a, f32x<16> b, f32x<16> c) {
  return _mm512_fmadd_ps(a.v, b.v, c.v);
}
// g++ 12 warns that the undefined pass-through operand inside the unmasked
// forms of these is uninitialised; the zero-masked forms with a full mask
// compile to the same instruction.
NNC_INLINE f32x<16> max_fast(f32x<16> a, f32x<16> b) {
  return _mm512_maskz_max_ps(static_cast<__mmask16>(0xffff), a.v, b.v);
}
NNC_INLINE f32x<16> min_fast(f32x<16> a, f32x<16> b) {
  return _mm512_maskz_min_ps(static_cast<__mmask16>(0xffff), a.v, b.v);
}
NNC_INLINE f32x<16> vec_sqrt(f32x<16> a) {
  return _mm512_maskz_sqrt_ps(static_cast<__mmask16>(0xffff), a.v);
}
NNC_INLINE f32x<16> vec_floor(f32x<16> a) {
  return _mm512_maskz_roundscale_ps(static_cast<__mmask16>(0xffff), a.v, 1);
}
NNC_INLINE f32x<16> vec_ceil(f32x<16> a) {
  return _mm512_maskz_roundscale_ps(static_cast<__mmask16>(0xffff), a.v, 2);
}
NNC_INLINE f32x<16> vec_trunc(f32x<16> a) {
  return _mm512_maskz_roundscale_ps(static_cast<__mmask16>(0xffff), a.v, 3);
}
NNC_INLINE f32x<16> vec_round(f32x<16> a) {
  return _mm512_maskz_roundscale_ps(static_cast<__mmask16>(0xffff), a.v, 0);
}

NNC_INLINE maskx<16> operator<(f32x<16> a, f32x<16> b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
NNC_INLINE maskx<16> operator<=(f32x<16> a, f32x<16> b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)};
}
NNC_INLINE maskx<16> operator==(f32x<16> a, f32x<16> b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)};
}
NNC_INLINE maskx<16> operator&(maskx<16> a, maskx<16> b) {
  return {static_cast<__mmask16>(a.v & b.v)};
}
NNC_INLINE maskx<16> operator|(maskx<16> a, maskx<16> b) {
  return {static_cast<__mmask16>(a.v | b.v)};
}
NNC_INLINE maskx<16> operator!(maskx<16> a) {
  return {static_cast<__mmask16>(~a.v)};
}
// Needed beside the template of vec.h, because C++20 would otherwise prefer a
// rewritten operator==.
NNC_INLINE maskx<16> operator!=(f32x<16> a, f32x<16> b) { return !(a == b); }
NNC_INLINE bool any(maskx<16> a) { return a.v != 0; }
NNC_INLINE f32x<16> select(maskx<16> m, f32x<16> a, f32x<16> b) {
  return _mm512_mask_blend_ps(m.v, b.v, a.v);
}
NNC_INLINE i32x<16> select(maskx<16> m, i32x<16> a, i32x<16> b) {
  return _mm512_mask_blend_epi32(m.v, b.v, a.v);
}

NNC_INLINE i32x<16> bit_cast_int(f32x<16> a) {
  return _mm512_castps_si512(a.v);
}
NNC_INLINE f32x<16> bit_cast_float(i32x<16> a) {
  return _mm512_castsi512_ps(a.v);
}
NNC_INLINE i32x<16> to_int(f32x<16> a) {
  return _mm512_maskz_cvttps_epi32(static_cast<__mmask16>(0xffff), a.v);
}
NNC_INLINE i32x<16> to_nearest_int(f32x<16> a) {
  return _mm512_maskz_cvtps_epi32(static_cast<__mmask16>(0xffff), a.v);
}
NNC_INLINE f32x<16> to_float(i32x<16> a) {
  return _mm512_maskz_cvtepi32_ps(static_cast<__mmask16>(0xffff), a.v);
}

NNC_INLINE i32x<16> operator+(i32x<16> a, i32x<16> b) {
  return _mm512_add_epi32(a.v, b.v);
}
NNC_INLINE i32x<16> operator-(i32x<16> a, i32x<16> b) {
  return _mm512_sub_epi32(a.v, b.v);
}
NNC_INLINE i32x<16> operator&(i32x<16> a, i32x<16> b) {
  return _mm512_and_si512(a.v, b.v);
}
NNC_INLINE i32x<16> operator|(i32x<16> a, i32x<16> b) {
  return _mm512_or_si512(a.v, b.v);
}
NNC_INLINE i32x<16> operator^(i32x<16> a, i32x<16> b) {
  return _mm512_xor_si512(a.v, b.v);
}
template <int N> NNC_INLINE i32x<16> shift_left(i32x<16> a) {
  return _mm512_maskz_slli_epi32(static_cast<__mmask16>(0xffff), a.v, N);
}
template <int N> NNC_INLINE i32x<16> shift_right(i32x<16> a) {
  return _mm512_maskz_srai_epi32(static_cast<__mmask16>(0xffff), a.v, N);
}
template <int N> NNC_INLINE i32x<16> shift_right_logical(i32x<16> a) {
  return _mm512_maskz_srli_epi32(static_cast<__mmask16>(0xffff), a.v, N);
}
NNC_INLINE maskx<16> operator==(i32x<16> a, i32x<16> b) {
  return {_mm512_cmpeq_epi32_mask(a.v, b.v)};
}
NNC_INLINE maskx<16> operator<(i32x<16> a, i32x<16> b) {
  return {_mm512_cmplt_epi32_mask(a.v, b.v)};
}

/// p * 2^n, rounded once, by the instruction for it. For other vectors math.h
/// builds the factor from integers.
NNC_INLINE f32x<16> scale_exponent(f32x<16> p, f32x<16> n) {
  return _mm512_maskz_scalef_ps(static_cast<__mmask16>(0xffff), p.v, n.v);
}

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

/// v in a register. Otherwise g++ makes a loaded vector the memory operand of
/// every multiply-add that uses it, and the machine cannot load as often beside
/// its multiply-adds.
#if defined(__GNUC__) && !defined(__clang__)
NNC_INLINE f32x<16> in_register(f32x<16> v) {
  asm("" : "+v"(v.v));
  return v;
}
#endif

template <class F> NNC_INLINE float fold(__m512 a) {
  const __m512d all = _mm512_castps_pd(a);
  const __mmask8 both = 0xff;
  return fold<F>(
      F::of(_mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(both, all, 0)),
            _mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(both, all, 1))));
}
NNC_INLINE float reduce_add(f32x<16> a) { return fold<add_lanes>(a.v); }
NNC_INLINE float reduce_max(f32x<16> a) { return fold<max_lanes>(a.v); }
NNC_INLINE float reduce_min(f32x<16> a) { return fold<min_lanes>(a.v); }

} // namespace nnc

#endif // __AVX512F__

#endif // NNC_SIMD_VEC_AVX512_H
