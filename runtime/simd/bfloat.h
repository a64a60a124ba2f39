//===- bfloat.h - bf16, a number of 16 bits in memory ---------------------===//
//
// bf16 is the upper half of a float: 8 bits of exponent and 7 of fraction. It
// is loaded as a float, or into vectors of float, and rounded to the nearest
// bf16 (ties to even) when stored.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_BFLOAT_H
#define NNC_SIMD_BFLOAT_H

#include "runtime/functions.h"
#include "runtime/simd/half.h"

namespace nnc {

struct bf16 {
  bf16() = default;
  NNC_INLINE bf16(float x) : bits(round(x)) {}
  NNC_INLINE operator float() const {
    // The shift is of an unsigned number: the sign is its highest bit.
    return bit_cast_float(
        static_cast<int32_t>(static_cast<uint32_t>(bits) << 16));
  }

private:
  static NNC_INLINE uint16_t round(float x) {
    const auto all = static_cast<uint32_t>(bit_cast_int(x));
    if ((all & 0x7fffffff) > 0x7f800000) // NaN
      return static_cast<uint16_t>((all >> 16 & 0x8000) | 0x7fc0);
    return static_cast<uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }

  uint16_t bits;
};
static_assert(sizeof(bf16) == 2, "as it lies in memory");
template <> inline constexpr bool holds_float<bf16> = true;

/// Loads W bf16 as floats, and stores floats as bf16.
template <int W> struct bfloats {
  static NNC_INLINE f32x<W> load(const bf16 *p) {
    alignas(64) float values[W];
    for (int i = 0; i < W; ++i)
      values[i] = p[i];
    return f32x<W>::load(values);
  }
  static NNC_INLINE void store(bf16 *p, f32x<W> v) {
    alignas(64) float values[W];
    v.store(values);
    for (int i = 0; i < W; ++i)
      p[i] = values[i];
  }
};

/// The bits of v rounded to bf16, in the lower half of each lane; what is above
/// them is undefined. NaN keeps its sign.
template <int W> NNC_INLINE i32x<W> round_to_bf16(f32x<W> v) {
  const i32x<W> all = bit_cast_int(v), upper = shift_right_logical<16>(all);
  const i32x<W> rounded =
      shift_right_logical<16>(all + i32x<W>(0x7fff) + (upper & i32x<W>(1)));
  return select(vec_is_nan(v), (upper & i32x<W>(0x8000)) | i32x<W>(0x7fc0),
                rounded);
}

#if defined(NNC_AVX2_VECTORS)
template <> struct bfloats<8> {
  static NNC_INLINE f32x<8> load(const bf16 *p) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i *>(p));
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  static NNC_INLINE void store(bf16 *p, f32x<8> v) {
    const __m256i bits = round_to_bf16(v).v;
    _mm_storeu_si128(reinterpret_cast<__m128i *>(p),
                     _mm_packus_epi32(_mm256_castsi256_si128(bits),
                                      _mm256_extracti128_si256(bits, 1)));
  }
};
#endif
#if defined(NNC_AVX512_VECTORS)
template <> struct bfloats<16> {
  static constexpr __mmask16 every = 0xffff;
  static NNC_INLINE f32x<16> load(const bf16 *p) {
    const __m256i bits =
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p));
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(
        every, _mm512_maskz_cvtepu16_epi32(every, bits), 16));
  }
  static NNC_INLINE void store(bf16 *p, f32x<16> v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(p),
                        _mm512_maskz_cvtepi32_epi16(every, round_to_bf16(v).v));
  }
};
#endif

/// load() and store() of vec.h for memory of bf16.
template <class V> NNC_INLINE V load(const bf16 *p) {
  if constexpr (lanes<V> == 1)
    return V(float(*p));
  else
    return bfloats<lanes<V>>::load(p);
}
template <class V> NNC_INLINE V load(const bf16 *p, int count) {
  bf16 first[lanes<V>];
  for (int i = 0; i < lanes<V>; ++i)
    first[i] = i < count ? p[i] : bf16(0.0f);
  return load<V>(first);
}
NNC_INLINE void store(bf16 *p, float v) { *p = v; }
NNC_INLINE void store(bf16 *p, float v, int count) {
  if (count > 0)
    *p = v;
}
template <int W> NNC_INLINE void store(bf16 *p, f32x<W> v) {
  bfloats<W>::store(p, v);
}
template <int W> NNC_INLINE void store(bf16 *p, f32x<W> v, int count) {
  bf16 all[W];
  bfloats<W>::store(all, v);
  for (int i = 0; i < W && i < count; ++i)
    p[i] = all[i];
}

/// Rounds lanes<V> floats at x to factors of products of bf16, which take
/// numbers below the normal range as zeros: such numbers may become zero.
template <class V> NNC_INLINE void round_factors(bf16 *p, const float *x) {
#if defined(NNC_AVX512_VECTORS) && defined(__AVX512BF16__)
  if constexpr (lanes<V> == 16) {
    const __m256bh bits = _mm512_cvtneps_pbh(load<V>(x).v);
    __builtin_memcpy(static_cast<void *>(p), &bits, sizeof(bits));
    return;
  }
#endif
  store(p, load<V>(x));
}

} // namespace nnc

#endif // NNC_SIMD_BFLOAT_H
