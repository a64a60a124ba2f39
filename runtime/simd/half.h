//===- half.h - f16, a number of 16 bits in memory ------------------------===//
//
// f16 is an IEEE 754 half-precision number in memory. It is loaded as a float,
// or into vectors of float, and rounded to the nearest half (ties to even) when
// stored. vec_neonfp16.h has vectors that compute with halves.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_HALF_H
#define NNC_SIMD_HALF_H

#include "runtime/functions.h"
#include "runtime/simd/vec.h"

namespace nnc {

#if defined(__ARM_FP16_FORMAT_IEEE)
struct f16 {
  f16() = default;
  NNC_INLINE f16(float x) : value(static_cast<__fp16>(x)) {}
  NNC_INLINE operator float() const { return value; }
  __fp16 value;
};
#else
struct f16 {
  f16() = default;
  NNC_INLINE f16(float x) : bits(round(x)) {}
  NNC_INLINE operator float() const {
#if defined(__CUDA_ARCH__)
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
#else
    // The exponent's bias moves by a multiplication, which makes denormal
    // numbers normal; infinities and NaN keep the largest exponent.
    const int32_t rest = int32_t(bits & 0x7fff) << 13;
    const float scaled = bit_cast_float(rest) * 0x1p112f;
    const int32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0;
    return copysign(bit_cast_float(bit_cast_int(scaled) | special),
                    bits & 0x8000 ? -1.0f : 1.0f);
#endif
  }

private:
  static NNC_INLINE uint16_t round(float x) {
    const int32_t all = bit_cast_int(x);
    const int32_t sign = all < 0 ? 0x8000 : 0;
    const int32_t value = all & 0x7fffffff;
    int32_t half;
    if (value > 0x7f800000)
      half = 0x7e00; // NaN
    else if (value >= 0x477ff000)
      half = 0x7c00;             // rounds to 2^16
    else if (value < 0x38800000) // denormal: the sum's last bit is 2^-24
      half = bit_cast_int(bit_cast_float(value) + 0.5f) - 0x3f000000;
    else
      half = (value + 0xfff + (value >> 13 & 1) - 0x38000000) >> 13;
    return static_cast<uint16_t>(sign | half);
  }

  uint16_t bits;
};
#endif
static_assert(sizeof(f16) == 2, "as it lies in memory");
template <> inline constexpr bool holds_float<f16> = true;

/// Loads W halves as floats, and stores floats as halves.
template <int W> struct halves {
  static NNC_INLINE f32x<W> load(const f16 *p) {
    alignas(64) float values[W];
    for (int i = 0; i < W; ++i)
      values[i] = p[i];
    return f32x<W>::load(values);
  }
  static NNC_INLINE void store(f16 *p, f32x<W> v) {
    alignas(64) float values[W];
    v.store(values);
    for (int i = 0; i < W; ++i)
      p[i] = values[i];
  }
};
#if defined(__F16C__) && defined(NNC_AVX2_VECTORS)
template <> struct halves<8> {
  static NNC_INLINE f32x<8> load(const f16 *p) {
    return _mm256_cvtph_ps(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)));
  }
  static NNC_INLINE void store(f16 *p, f32x<8> v) {
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p),
                     _mm256_cvtps_ph(v.v, _MM_FROUND_TO_NEAREST_INT));
  }
};
#endif
#if defined(NNC_AVX512_VECTORS)
template <> struct halves<16> {
  static NNC_INLINE f32x<16> load(const f16 *p) {
    return _mm512_maskz_cvtph_ps(
        0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
  }
  static NNC_INLINE void store(f16 *p, f32x<16> v) {
    _mm256_storeu_si256(
        reinterpret_cast<__m256i *>(p),
        _mm512_maskz_cvtps_ph(0xffff, v.v, _MM_FROUND_TO_NEAREST_INT));
  }
};
#endif
#if defined(__aarch64__) && defined(NNC_NEON_VECTORS)
template <> struct halves<4> {
  static NNC_INLINE f32x<4> load(const f16 *p) {
    return vcvt_f32_f16(vld1_f16(&p->value));
  }
  static NNC_INLINE void store(f16 *p, f32x<4> v) {
    vst1_f16(&p->value, vcvt_f16_f32(v.v));
  }
};
template <> struct halves<8> {
  static NNC_INLINE f32x<8> load(const f16 *p) {
    const float16x8_t v = vld1q_f16(&p->value);
    return {vcvt_f32_f16(vget_low_f16(v)), vcvt_high_f32_f16(v)};
  }
  static NNC_INLINE void store(f16 *p, f32x<8> v) {
    vst1q_f16(&p->value, vcvt_high_f16_f32(vcvt_f16_f32(v.lo.v), v.hi.v));
  }
};
#endif

/// load() and store() of vec.h for memory of halves.
template <class V> NNC_INLINE V load(const f16 *p) {
  if constexpr (lanes<V> == 1)
    return V(float(*p));
  else
    return halves<lanes<V>>::load(p);
}
template <class V> NNC_INLINE V load(const f16 *p, int count) {
  f16 first[lanes<V>];
  for (int i = 0; i < lanes<V>; ++i)
    first[i] = i < count ? p[i] : f16(0.0f);
  return load<V>(first);
}
NNC_INLINE void store(f16 *p, float v) { *p = v; }
NNC_INLINE void store(f16 *p, float v, int count) {
  if (count > 0)
    *p = v;
}
template <int W> NNC_INLINE void store(f16 *p, f32x<W> v) {
  halves<W>::store(p, v);
}
template <int W> NNC_INLINE void store(f16 *p, f32x<W> v, int count) {
  f16 all[W];
  halves<W>::store(all, v);
  for (int i = 0; i < W && i < count; ++i)
    p[i] = all[i];
}

/// x, a float or a vector of them, rounded to T, which is f16 or bf16.
template <class T, class V> NNC_INLINE V round_to(V x) {
  if constexpr (is_arithmetic<V>::value) {
    return static_cast<float>(T(x));
  } else {
    T memory[lanes<V>];
    store(memory, x);
    return load<V>(memory);
  }
}

} // namespace nnc

#endif // NNC_SIMD_HALF_H
