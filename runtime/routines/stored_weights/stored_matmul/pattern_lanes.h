//===- pattern_lanes.h - Selects floats in vector registers ---------------===//
//
// Vectors of x hold the floats of several groups of M, from which the N floats
// that the entries of a pattern multiply (decode/pattern.h) are selected. A
// step processes pattern_step entries, whose indices take whole bytes: a
// shuffle moves both bytes that hold an index to a lane of 32 bits, and a shift
// moves the index to the low end of the lane. The number of floats in the
// groups in front is then added, which gives the index in one to four vectors.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PATTERN_LANES_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PATTERN_LANES_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/code_lanes.h"
#include "runtime/routines/stored_weights/stored_matmul/plan.h"

namespace nnc {

/// Products of entries in vectors of W floats, if the instruction set supports
/// them.
template <int W> struct pattern_lanes {
  static constexpr bool exists = false;
};

/// The constants that move the indices of W entries, from entry `first` of a
/// step on, to the lanes of vectors.
template <int W> struct pattern_indices {
  static constexpr auto count = static_cast<size_t>(W);
  alignas(64) int32_t bytes[count], shifts[count], groups[count];

  NNC_FN pattern_indices(int kept, int group, int bits, int first) {
    for (int i = 0; i < W; ++i) {
      bytes[i] = code_bytes(first + i, bits);
      shifts[i] = code_shift(first + i, bits);
      groups[i] = (first + i) / kept * group - first / kept * group;
    }
  }
};

#if defined(NNC_AVX512_VECTORS) && defined(__AVX512BW__)
template <> struct pattern_lanes<16> {
  static constexpr bool exists = true;

  /// `kept` of each `group` weights have entries, a half or a quarter of them.
  pattern_lanes(int kept, int group, int bits)
      : is_quarter(group == 4 * kept), mask(_mm512_set1_epi32(group - 1)) {
    const pattern_indices<16> indices(kept, group, bits, 0);
    spread = _mm512_load_si512(indices.bytes);
    shift = _mm512_load_si512(indices.shifts);
    groups = _mm512_load_si512(indices.groups);
  }

  /// Returns `sum` plus the products of the entries of a step. All 16 bytes
  /// from `places` on must be readable.
  NNC_INLINE f32x<16> add(f32x<16> sum, const float *x, const float *values,
                          const unsigned char *places) const {
    const __m512i all = _mm512_maskz_broadcast_i32x4(
        0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i *>(places)));
    const __m512i index = _mm512_or_si512(
        _mm512_and_si512(
            _mm512_srlv_epi32(_mm512_shuffle_epi8(all, spread), shift), mask),
        groups);
    const auto pick = [&](const float *from) {
      return _mm512_permutex2var_ps(_mm512_loadu_ps(from), index,
                                    _mm512_loadu_ps(from + 16));
    };
    __m512 picked = pick(x);
    if (is_quarter)
      picked = _mm512_mask_blend_ps(
          _mm512_test_epi32_mask(index, _mm512_set1_epi32(32)), picked,
          pick(x + 32));
    return fma(f32x<16>(picked), f32x<16>::load(values), sum);
  }

private:
  bool is_quarter;
  __m512i mask, spread, shift, groups;
};
#endif

#if defined(NNC_AVX2_VECTORS)
template <> struct pattern_lanes<8> {
  static constexpr bool exists = true;

  pattern_lanes(int kept, int group, int bits)
      : is_quarter(group == 4 * kept), half(8 / kept * group) {
    mask = _mm256_set1_epi32(group - 1);
    for (int i = 0; i < 2; ++i) {
      const pattern_indices<8> indices(kept, group, bits, 8 * i);
      const auto load = [](const int32_t *from) {
        return _mm256_load_si256(reinterpret_cast<const __m256i *>(from));
      };
      spread[i] = load(indices.bytes);
      shift[i] = load(indices.shifts);
      groups[i] = load(indices.groups);
    }
  }

  NNC_INLINE f32x<8> add(f32x<8> sum, const float *x, const float *values,
                         const unsigned char *places) const {
    const __m256i all = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(places)));
    NNC_UNROLL for (int i = 0; i < 2; ++i) {
      const __m256i index = _mm256_or_si256(
          _mm256_and_si256(
              _mm256_srlv_epi32(_mm256_shuffle_epi8(all, spread[i]), shift[i]),
              mask),
          groups[i]);
      sum = fma(f32x<8>(pick(x + i * half, index)),
                f32x<8>::load(values + 8 * i), sum);
    }
    return sum;
  }

private:
  NNC_INLINE __m256 pick(const float *x, __m256i index) const {
    // A lookup takes the lowest three bits; the others choose, as signs.
    const auto in = [&](int i) {
      return _mm256_permutevar8x32_ps(_mm256_loadu_ps(x + 8 * i), index);
    };
    const __m256 fourth = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28));
    const __m256 low = _mm256_blendv_ps(in(0), in(1), fourth);
    if (!is_quarter)
      return low;
    return _mm256_blendv_ps(low, _mm256_blendv_ps(in(2), in(3), fourth),
                            _mm256_castsi256_ps(_mm256_slli_epi32(index, 27)));
  }
  bool is_quarter;
  int half; ///< floats that the first eight entries are picked from
  __m256i mask, spread[2], shift[2], groups[2];
};
#endif

#if defined(NNC_NEON_VECTORS) && defined(__aarch64__)
template <> struct pattern_lanes<4> {
  static constexpr bool exists = true;

  pattern_lanes(int kept, int group, int bits) {
    mask = vdupq_n_u32(static_cast<uint32_t>(group - 1));
    for (int i = 0; i < 4; ++i) {
      const pattern_indices<4> indices(kept, group, bits, 4 * i);
      spread[i] = vreinterpretq_u8_s32(vld1q_s32(indices.bytes));
      shift[i] = vnegq_s32(vld1q_s32(indices.shifts));
      groups[i] = vreinterpretq_u32_s32(vld1q_s32(indices.groups));
      first[i] = 4 * i / kept * group;
    }
    // A vector has entries of a part of a group, or of whole ones.
    is_wide = (kept < 4 ? 4 / kept * group : group) == 16;
  }

  NNC_INLINE f32x<4> add(f32x<4> sum, const float *x, const float *values,
                         const unsigned char *places) const {
    const uint8x16_t all = vld1q_u8(places);
    NNC_UNROLL for (int i = 0; i < 4; ++i) {
      const uint32x4_t index = vorrq_u32(
          vandq_u32(vshlq_u32(vreinterpretq_u32_u8(vqtbl1q_u8(all, spread[i])),
                              shift[i]),
                    mask),
          groups[i]);
      // The indices of the four bytes of each float.
      const uint8x16_t bytes = vreinterpretq_u8_u32(
          vmlaq_n_u32(vdupq_n_u32(0x03020100u), index, 0x04040404u));
      sum = fma(f32x<4>(vreinterpretq_f32_u8(pick(x + first[i], bytes))),
                f32x<4>::load(values + 4 * i), sum);
    }
    return sum;
  }

private:
  NNC_INLINE uint8x16_t pick(const float *x, uint8x16_t bytes) const {
    const auto part = [&](int i) {
      return vreinterpretq_u8_f32(vld1q_f32(x + 4 * i));
    };
    if (!is_wide) {
      const uint8x16x2_t two = {{part(0), part(1)}};
      return vqtbl2q_u8(two, bytes);
    }
    const uint8x16x4_t four = {{part(0), part(1), part(2), part(3)}};
    return vqtbl4q_u8(four, bytes);
  }
  bool is_wide; ///< 16 floats hold what a vector picks, not 8
  int first[4]; ///< floats in front of those that four entries are picked from
  uint32x4_t mask, groups[4];
  uint8x16_t spread[4];
  int32x4_t shift[4];
};
#endif

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PATTERN_LANES_H
