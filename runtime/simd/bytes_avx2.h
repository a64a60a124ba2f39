//===- bytes_avx2.h - Vectors of bytes in AVX2 registers ------------------===//
#ifndef NNC_SIMD_BYTES_AVX2_H
#define NNC_SIMD_BYTES_AVX2_H

#include "runtime/functions.h"
#include "runtime/simd/bytes_portable.h"
#include "runtime/simd/vec_avx2.h"

#if defined(__AVX2__) && defined(__FMA__) && !defined(NNC_PORTABLE_SIMD)
namespace nnc {

template <> struct byte_lanes<8> {
  using V = i32x<8>;
  static constexpr bool conversion_saturates = false;
  static NNC_INLINE V load(const uint8_t *p) {
    return {_mm256_cvtepu8_epi32(load_eight(p))};
  }
  static NNC_INLINE V load(const int8_t *p) {
    return {_mm256_cvtepi8_epi32(load_eight(p))};
  }
  static NNC_INLINE V load_pairs(const int8_t *p) {
    return {_mm256_cvtepi8_epi16(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)))};
  }
  static NNC_INLINE V load_pairs(const uint8_t *p) {
    return {_mm256_cvtepu8_epi16(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)))};
  }
  static NNC_INLINE V load_pairs(const int16_t *p) { return load_bits(p); }
  static NNC_INLINE V load_two(const int8_t *p, const int8_t *q) {
    return {
        _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(load_eight(p), load_eight(q)))};
  }
  static NNC_INLINE V load_two(const uint8_t *p, const uint8_t *q) {
    return {
        _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(load_eight(p), load_eight(q)))};
  }
  static NNC_INLINE V load_bits(const void *p) {
    return {_mm256_loadu_si256(static_cast<const __m256i *>(p))};
  }
  static NNC_INLINE void store_bits(void *p, V v) {
    _mm256_storeu_si256(static_cast<__m256i *>(p), v.v);
  }
  static NNC_INLINE void store(void *p, V v) {
    const __m256i low = _mm256_setr_epi8(
        0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
        0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i bytes = _mm256_shuffle_epi8(v.v, low);
    _mm_storel_epi64(static_cast<__m128i *>(p),
                     _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes),
                                        _mm256_extracti128_si256(bytes, 1)));
  }
  template <class T>
  static NNC_INLINE void store_four(T *p, V a, V b, V c, V d) {
    const __m256i low = _mm256_packs_epi32(a.v, b.v);
    const __m256i high = _mm256_packs_epi32(c.v, d.v);
    const __m256i bytes = is_signed<T>::value ? _mm256_packs_epi16(low, high)
                                              : _mm256_packus_epi16(low, high);
    // The two halves of a register were packed separately.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    store_bits(p, {_mm256_permutevar8x32_epi32(bytes, order)});
  }
  /// Gathers words of four bytes, all of which lie inside of the table.
  template <class T> static NNC_INLINE V look_up(const T *table, V at) {
    const auto *words = reinterpret_cast<const int *>(table);
    const __m256i word = _mm256_srli_epi32(at.v, 2);
    const __m256i byte =
        _mm256_slli_epi32(_mm256_and_si256(at.v, _mm256_set1_epi32(3)), 3);
    return {_mm256_srlv_epi32(_mm256_i32gather_epi32(words, word, 4), byte)};
  }
  static NNC_INLINE V rescale_double(V x, V multiplier, V shift) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i left = _mm256_max_epi32(shift.v, zero);
    const __m256i right = _mm256_sub_epi32(zero, shift.v);
    const __m256i from = _mm256_sllv_epi32(x.v, left);
    const __m256i half = _mm256_set1_epi64x(1 << 30);
    const __m256i even =
        _mm256_add_epi64(_mm256_mul_epi32(from, multiplier.v), half);
    const __m256i odd =
        _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(from, 32),
                                          _mm256_srli_epi64(multiplier.v, 32)),
                         half);
    const __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 31),
                                            _mm256_slli_epi64(odd, 1), 0xaa);
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i nudged = _mm256_add_epi32(high, _mm256_srai_epi32(high, 31));
    const __m256i last = _mm256_and_si256(
        _mm256_srlv_epi32(nudged, _mm256_sub_epi32(right, one)), one);
    const __m256i divided =
        _mm256_add_epi32(_mm256_srav_epi32(nudged, right), last);
    return {_mm256_blendv_epi8(high, divided, _mm256_cmpgt_epi32(right, zero))};
  }
  static NNC_INLINE V rescale_single(V x, V multiplier, V shift) {
    // 64-bit right shifts exist only as logical shifts. Therefore products,
    // which lie between -2^62 and 2^62, are offset to be positive before the
    // shift and moved back after it.
    const __m256i bits = _mm256_sub_epi32(_mm256_set1_epi32(31), shift.v);
    const auto part = [&](__m256i a, __m256i b, __m256i by) {
      const __m256i offset = _mm256_set1_epi64x(int64_t(1) << 62);
      const __m256i half = _mm256_sllv_epi64(
          _mm256_set1_epi64x(1), _mm256_sub_epi64(by, _mm256_set1_epi64x(1)));
      const __m256i sum = _mm256_add_epi64(
          _mm256_add_epi64(_mm256_mul_epi32(a, b), offset), half);
      return _mm256_sub_epi64(_mm256_srlv_epi64(sum, by),
                              _mm256_srlv_epi64(offset, by));
    };
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    const __m256i even = part(x.v, multiplier.v, _mm256_and_si256(bits, low));
    const __m256i odd =
        part(_mm256_srli_epi64(x.v, 32), _mm256_srli_epi64(multiplier.v, 32),
             _mm256_srli_epi64(bits, 32));
    return {_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa)};
  }
  static NNC_INLINE V multiply(V a, V b) {
    return {_mm256_mullo_epi32(a.v, b.v)};
  }
  static NNC_INLINE V most(V a, V b) { return {_mm256_max_epi32(a.v, b.v)}; }
  static NNC_INLINE V least(V a, V b) { return {_mm256_min_epi32(a.v, b.v)}; }
  /// g++ computes all products of a register tile before it adds them, and then
  /// has no registers left for the sums: it kept half of 6 x 2 sums in memory,
  /// and tiles took 50 % longer than with these two instructions in order.
  static NNC_INLINE V dot2(V sum, V a, V b) {
#if defined(__GNUC__) && !defined(__clang__)
    __m256i product;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
        : "+x"(sum.v), "=&x"(product)
        : "x"(a.v), "x"(b.v));
    return sum;
#else
    return {_mm256_add_epi32(sum.v, _mm256_madd_epi16(a.v, b.v))};
#endif
  }
#if defined(__AVXVNNI__)
  static NNC_INLINE V dot4(V sum, V a, V b) {
#if defined(__GNUC__) && !defined(__clang__)
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum.v) : "x"(a.v), "x"(b.v));
    return sum;
#else
    return {_mm256_dpbusd_avx_epi32(sum.v, a.v, b.v)};
#endif
  }
#else
  /// Multiplies even and odd bytes separately, as 16-bit numbers.
  static NNC_INLINE V dot4(V sum, V a, V b) {
    const V even =
        dot2(sum, {_mm256_and_si256(a.v, _mm256_set1_epi32(0x00ff00ff))},
             {_mm256_srai_epi16(_mm256_slli_epi16(b.v, 8), 8)});
    return dot2(even, {_mm256_srli_epi16(a.v, 8)}, {_mm256_srai_epi16(b.v, 8)});
  }
#endif
  static NNC_INLINE V bounded_dot4(V sum, V a, V b) {
#if defined(__GNUC__) && !defined(__clang__)
    __m256i product;
    asm("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
        : "+x"(sum.v), "=&x"(product)
        : "x"(a.v), "x"(b.v), "x"(_mm256_set1_epi16(1)));
    return sum;
#else
    return {_mm256_add_epi32(sum.v,
                             _mm256_madd_epi16(_mm256_maddubs_epi16(a.v, b.v),
                                               _mm256_set1_epi16(1)))};
#endif
  }
  static NNC_INLINE V bounded_dot8(V sum, V a, V b, V c, V d) {
    return {_mm256_add_epi32(
        sum.v,
        _mm256_madd_epi16(_mm256_add_epi16(_mm256_maddubs_epi16(a.v, b.v),
                                           _mm256_maddubs_epi16(c.v, d.v)),
                          _mm256_set1_epi16(1)))};
  }

private:
  static NNC_INLINE __m128i load_eight(const void *p) {
    return _mm_loadl_epi64(static_cast<const __m128i *>(p));
  }
};

} // namespace nnc

#endif

#endif // NNC_SIMD_BYTES_AVX2_H
