//===- bytes_sse4.h - Vectors of bytes in SSE4.1 --------------------------===//
#ifndef NNC_SIMD_BYTES_SSE4_H
#define NNC_SIMD_BYTES_SSE4_H

#include "runtime/functions.h"
#include "runtime/simd/bytes_portable.h"
#include "runtime/simd/vec_sse4.h"

#if defined(__SSE4_1__) && !defined(NNC_PORTABLE_SIMD)
namespace nnc {

template <> struct byte_lanes<4> {
  using V = i32x<4>;
  static constexpr bool conversion_saturates = false;
  static NNC_INLINE V load(const uint8_t *p) {
    return {_mm_cvtepu8_epi32(load_word(p))};
  }
  static NNC_INLINE V load(const int8_t *p) {
    return {_mm_cvtepi8_epi32(load_word(p))};
  }
  static NNC_INLINE V load_pairs(const int8_t *p) {
    return {_mm_cvtepi8_epi16(
        _mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)))};
  }
  static NNC_INLINE V load_pairs(const uint8_t *p) {
    return {_mm_cvtepu8_epi16(
        _mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)))};
  }
  static NNC_INLINE V load_pairs(const int16_t *p) { return load_bits(p); }
  static NNC_INLINE V load_two(const int8_t *p, const int8_t *q) {
    return {_mm_cvtepi8_epi16(_mm_unpacklo_epi8(load_word(p), load_word(q)))};
  }
  static NNC_INLINE V load_two(const uint8_t *p, const uint8_t *q) {
    return {_mm_cvtepu8_epi16(_mm_unpacklo_epi8(load_word(p), load_word(q)))};
  }
  static NNC_INLINE V load_bits(const void *p) {
    return {_mm_loadu_si128(static_cast<const __m128i *>(p))};
  }
  static NNC_INLINE void store_bits(void *p, V v) {
    _mm_storeu_si128(static_cast<__m128i *>(p), v.v);
  }
  static NNC_INLINE void store(void *p, V v) {
    const __m128i low = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1,
                                      -1, -1, -1, -1, -1);
    const int bytes = _mm_cvtsi128_si32(_mm_shuffle_epi8(v.v, low));
    memcpy(p, &bytes, sizeof bytes);
  }
  template <class T>
  static NNC_INLINE void store_four(T *p, V a, V b, V c, V d) {
    const __m128i low = _mm_packs_epi32(a.v, b.v);
    const __m128i high = _mm_packs_epi32(c.v, d.v);
    store_bits(p, {is_signed<T>::value ? _mm_packs_epi16(low, high)
                                       : _mm_packus_epi16(low, high)});
  }
  /// Moves indices and bytes between registers: narrow stores that a wide load
  /// follows would stall.
  template <class T> static NNC_INLINE V look_up(const T *table, V at) {
    const auto byte = [&](int index) { return int(uint8_t(table[index])); };
    __m128i bytes = _mm_cvtsi32_si128(byte(_mm_cvtsi128_si32(at.v)));
    bytes = _mm_insert_epi8(bytes, byte(_mm_extract_epi16(at.v, 2)), 4);
    bytes = _mm_insert_epi8(bytes, byte(_mm_extract_epi16(at.v, 4)), 8);
    bytes = _mm_insert_epi8(bytes, byte(_mm_extract_epi16(at.v, 6)), 12);
    return {bytes};
  }
  static NNC_INLINE V rescale_double(V x, V multiplier, V shift) {
    return rescale_in_turn<double_rescaling>(x, multiplier, shift);
  }
  static NNC_INLINE V rescale_single(V x, V multiplier, V shift) {
    return rescale_in_turn<single_rescaling>(x, multiplier, shift);
  }
  static NNC_INLINE V multiply(V a, V b) { return {_mm_mullo_epi32(a.v, b.v)}; }
  static NNC_INLINE V most(V a, V b) { return {_mm_max_epi32(a.v, b.v)}; }
  static NNC_INLINE V least(V a, V b) { return {_mm_min_epi32(a.v, b.v)}; }
  // Instructions as text for g++: see dot2 in bytes_avx2.h.
  static NNC_INLINE V dot2(V sum, V a, V b) {
#if defined(__GNUC__) && !defined(__clang__)
    __m128i product = a.v;
#if defined(__AVX__)
    asm("vpmaddwd %2, %1, %1\n\tvpaddd %1, %0, %0"
        : "+x"(sum.v), "+x"(product)
        : "x"(b.v));
#else
    asm("pmaddwd %2, %1\n\tpaddd %1, %0"
        : "+x"(sum.v), "+x"(product)
        : "x"(b.v));
#endif
    return sum;
#else
    return {_mm_add_epi32(sum.v, _mm_madd_epi16(a.v, b.v))};
#endif
  }
  /// Multiplies even and odd bytes separately, as 16-bit numbers.
  static NNC_INLINE V dot4(V sum, V a, V b) {
    const V even = dot2(sum, {_mm_and_si128(a.v, _mm_set1_epi32(0x00ff00ff))},
                        {_mm_srai_epi16(_mm_slli_epi16(b.v, 8), 8)});
    return dot2(even, {_mm_srli_epi16(a.v, 8)}, {_mm_srai_epi16(b.v, 8)});
  }
  static NNC_INLINE V bounded_dot4(V sum, V a, V b) {
    return {_mm_add_epi32(
        sum.v, _mm_madd_epi16(_mm_maddubs_epi16(a.v, b.v), _mm_set1_epi16(1)))};
  }
  static NNC_INLINE V bounded_dot8(V sum, V a, V b, V c, V d) {
    return {_mm_add_epi32(
        sum.v, _mm_madd_epi16(_mm_add_epi16(_mm_maddubs_epi16(a.v, b.v),
                                            _mm_maddubs_epi16(c.v, d.v)),
                              _mm_set1_epi16(1)))};
  }

private:
  static NNC_INLINE __m128i load_word(const void *p) {
    int bytes;
    memcpy(&bytes, p, sizeof bytes);
    return _mm_cvtsi32_si128(bytes);
  }
};

} // namespace nnc

#endif

#endif // NNC_SIMD_BYTES_SSE4_H
