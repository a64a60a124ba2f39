//===- bytes_avx512.h - Vectors of bytes in AVX-512 -----------------------===//
#ifndef NNC_SIMD_BYTES_AVX512_H
#define NNC_SIMD_BYTES_AVX512_H

#include "runtime/functions.h"
#include "runtime/simd/bytes_portable.h"
#include "runtime/simd/vec_avx512.h"

#if defined(__AVX512BW__) && defined(__FMA__) && !defined(NNC_PORTABLE_SIMD)
namespace nnc {

template <> struct byte_lanes<16> {
  using V = i32x<16>;
  static constexpr bool conversion_saturates = false;
  // Masks of all lanes are used because g++ 12 warns of an uninitialized
  // variable for the undefined operand of instructions without a mask.
  static constexpr __mmask16 every = 0xffff;
  static constexpr __mmask32 every_word = 0xffffffff;

  static NNC_INLINE V load(const uint8_t *p) {
    return {_mm512_maskz_cvtepu8_epi32(every, load_sixteen(p))};
  }
  static NNC_INLINE V load(const int8_t *p) {
    return {_mm512_maskz_cvtepi8_epi32(every, load_sixteen(p))};
  }
  static NNC_INLINE V load_pairs(const int8_t *p) {
    return {_mm512_maskz_cvtepi8_epi16(
        every_word, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)))};
  }
  static NNC_INLINE V load_pairs(const uint8_t *p) {
    return {_mm512_maskz_cvtepu8_epi16(
        every_word, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)))};
  }
  static NNC_INLINE V load_pairs(const int16_t *p) { return load_bits(p); }
  static NNC_INLINE V load_two(const int8_t *p, const int8_t *q) {
    return {_mm512_maskz_cvtepi8_epi16(every_word, zip(p, q))};
  }
  static NNC_INLINE V load_two(const uint8_t *p, const uint8_t *q) {
    return {_mm512_maskz_cvtepu8_epi16(every_word, zip(p, q))};
  }
  static NNC_INLINE V load_bits(const void *p) {
    return {_mm512_loadu_si512(p)};
  }
  static NNC_INLINE void store_bits(void *p, V v) {
    _mm512_storeu_si512(p, v.v);
  }
  static NNC_INLINE void store(void *p, V v) {
    _mm512_mask_cvtepi32_storeu_epi8(p, every, v.v);
  }
  template <class T>
  static NNC_INLINE void store_four(T *p, V a, V b, V c, V d) {
    const __m512i low = _mm512_packs_epi32(a.v, b.v);
    const __m512i high = _mm512_packs_epi32(c.v, d.v);
    const __m512i bytes = is_signed<T>::value ? _mm512_packs_epi16(low, high)
                                              : _mm512_packus_epi16(low, high);
    // The four quarters of a register were packed separately.
    const __m512i order =
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    store_bits(p, {_mm512_maskz_permutexvar_epi32(every, order, bytes)});
  }
  /// Selects words of four bytes from the table's four registers, two at a
  /// time: a permutation reads the lowest five bits of a word's index.
  template <class T> static NNC_INLINE V look_up(const T *table, V at) {
    const auto part = [&](int i) { return _mm512_loadu_si512(table + 64 * i); };
    const __m512i word = _mm512_maskz_srli_epi32(0xffff, at.v, 2);
    const __m512i byte = _mm512_maskz_slli_epi32(
        0xffff, _mm512_and_si512(at.v, _mm512_set1_epi32(3)), 3);
    const __m512i low = _mm512_permutex2var_epi32(part(0), word, part(1));
    const __m512i high = _mm512_permutex2var_epi32(part(2), word, part(3));
    const __mmask16 is_high =
        _mm512_test_epi32_mask(at.v, _mm512_set1_epi32(128));
    return {_mm512_maskz_srlv_epi32(
        0xffff, _mm512_mask_blend_epi32(is_high, low, high), byte)};
  }
  static NNC_INLINE V rescale_double(V x, V multiplier, V shift) {
    return rescale_in_turn<double_rescaling>(x, multiplier, shift);
  }
  static NNC_INLINE V rescale_single(V x, V multiplier, V shift) {
    return rescale_in_turn<single_rescaling>(x, multiplier, shift);
  }
  static NNC_INLINE V multiply(V a, V b) {
    return {_mm512_mullo_epi32(a.v, b.v)};
  }
  static NNC_INLINE V most(V a, V b) {
    return {_mm512_maskz_max_epi32(every, a.v, b.v)};
  }
  static NNC_INLINE V least(V a, V b) {
    return {_mm512_maskz_min_epi32(every, a.v, b.v)};
  }
  // Instructions as text for g++: see dot2 in bytes_avx2.h.
  static NNC_INLINE V dot2(V sum, V a, V b) {
#if defined(__GNUC__) && !defined(__clang__)
    __m512i product;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
        : "+v"(sum.v), "=&v"(product)
        : "v"(a.v), "v"(b.v));
    return sum;
#else
    return {_mm512_add_epi32(sum.v, _mm512_madd_epi16(a.v, b.v))};
#endif
  }
#if defined(__AVX512VNNI__)
  static NNC_INLINE V dot4(V sum, V a, V b) {
#if defined(__GNUC__) && !defined(__clang__)
    asm("vpdpbusd %2, %1, %0" : "+v"(sum.v) : "v"(a.v), "v"(b.v));
    return sum;
#else
    return {_mm512_dpbusd_epi32(sum.v, a.v, b.v)};
#endif
  }
#else
  /// Multiplies even and odd bytes separately, as 16-bit numbers.
  static NNC_INLINE V dot4(V sum, V a, V b) {
    const V even =
        dot2(sum, {_mm512_and_si512(a.v, _mm512_set1_epi32(0x00ff00ff))},
             {_mm512_srai_epi16(_mm512_slli_epi16(b.v, 8), 8)});
    return dot2(even, {_mm512_srli_epi16(a.v, 8)}, {_mm512_srai_epi16(b.v, 8)});
  }
#endif
  static NNC_INLINE V bounded_dot4(V sum, V a, V b) {
    return {_mm512_add_epi32(sum.v,
                             _mm512_madd_epi16(_mm512_maddubs_epi16(a.v, b.v),
                                               _mm512_set1_epi16(1)))};
  }
  static NNC_INLINE V bounded_dot8(V sum, V a, V b, V c, V d) {
    return {_mm512_add_epi32(
        sum.v,
        _mm512_madd_epi16(_mm512_add_epi16(_mm512_maddubs_epi16(a.v, b.v),
                                           _mm512_maddubs_epi16(c.v, d.v)),
                          _mm512_set1_epi16(1)))};
  }

private:
  static NNC_INLINE __m256i zip(const void *p, const void *q) {
    const __m128i a = load_sixteen(p), b = load_sixteen(q);
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_unpacklo_epi8(a, b)),
        _mm_unpackhi_epi8(a, b), 1);
  }
  static NNC_INLINE __m128i load_sixteen(const void *p) {
    return _mm_loadu_si128(static_cast<const __m128i *>(p));
  }
};

} // namespace nnc

#endif

#endif // NNC_SIMD_BYTES_AVX512_H
