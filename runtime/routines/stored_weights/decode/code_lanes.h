//===- code_lanes.h - Looks up floats by codes in vector registers --------===//
//
// Sixteen codes of at most 8 bits take whole bytes. A shuffle moves both bytes
// that hold a code to a lane of 32 bits, and a shift moves the code to the low
// end of the lane. Tables of up to 64 floats (AVX-512) or 32 (AVX2) are in
// registers.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_CODE_LANES_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_CODE_LANES_H

#include "runtime/functions.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// Codes that are looked up at a time.
constexpr int code_group = 16;

/// The 8-bit indices for a shuffle of 16 bytes that moves the bytes that hold
/// code i to the lower half of a lane and zeros to its upper half.
NNC_FN constexpr int32_t code_bytes(int i, int bits) {
  const int first = i * bits / 8, second = first < 15 ? first + 1 : first;
  return static_cast<int32_t>(0x80800000u |
                              static_cast<uint32_t>(second << 8 | first));
}
/// The bit at which code i begins in its bytes.
NNC_FN constexpr int32_t code_shift(int i, int bits) { return i * bits % 8; }

/// Table lookup of codes in vectors of W floats, if the instruction set
/// supports it.
template <int W> struct code_lanes {
  static constexpr bool exists = false;
};

#if defined(NNC_AVX512_VECTORS) && defined(__AVX512BW__)
template <> struct code_lanes<16> {
  static constexpr bool exists = true;

  code_lanes(const float *floats, int values, int bits) : table(floats) {
    kind = values <= 16 ? 0 : values <= 32 ? 1 : values <= 64 ? 2 : 3;
    for (int i = 0; i < 4; ++i)
      part[i] = f32x<16>::load(table + 16 * i < table + values ? table + 16 * i
                                                               : table,
                               values - 16 * i)
                    .v;
    alignas(64) int32_t bytes[16], shifts[16];
    for (int i = 0; i < 16; ++i) {
      bytes[i] = code_bytes(i, bits);
      shifts[i] = code_shift(i, bits);
    }
    spread = _mm512_load_si512(bytes);
    shift = _mm512_load_si512(shifts);
    mask = _mm512_set1_epi32((1 << bits) - 1);
  }

  /// Stores the values of 16 codes. All 16 bytes from `codes` on can be read.
  NNC_INLINE void look_up(const unsigned char *codes, float *to) const {
    const __m512i all = _mm512_maskz_broadcast_i32x4(
        0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i *>(codes)));
    const __m512i index = _mm512_and_si512(
        _mm512_srlv_epi32(_mm512_shuffle_epi8(all, spread), shift), mask);
    __m512 v;
    switch (kind) {
    case 0:
      v = _mm512_maskz_permutexvar_ps(0xffff, index, part[0]);
      break;
    case 1:
      v = _mm512_permutex2var_ps(part[0], index, part[1]);
      break;
    case 2:
      v = _mm512_mask_blend_ps(
          _mm512_test_epi32_mask(index, _mm512_set1_epi32(32)),
          _mm512_permutex2var_ps(part[0], index, part[1]),
          _mm512_permutex2var_ps(part[2], index, part[3]));
      break;
    default:
      v = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, index, table,
                                   4);
    }
    _mm512_storeu_ps(to, v);
  }

private:
  const float *table;
  int kind;
  __m512 part[4];
  __m512i spread, shift, mask;
};
#endif

#if defined(NNC_AVX2_VECTORS)
template <> struct code_lanes<8> {
  static constexpr bool exists = true;

  code_lanes(const float *floats, int values, int bits) : table(floats) {
    kind = values <= 8 ? 0 : values <= 16 ? 1 : values <= 32 ? 2 : 3;
    for (int i = 0; i < 4; ++i)
      part[i] =
          f32x<8>::load(table + 8 * i < table + values ? table + 8 * i : table,
                        values - 8 * i)
              .v;
    for (int half = 0; half < 2; ++half) {
      alignas(32) int32_t bytes[8], shifts[8];
      for (int i = 0; i < 8; ++i) {
        bytes[i] = code_bytes(8 * half + i, bits);
        shifts[i] = code_shift(8 * half + i, bits);
      }
      spread[half] =
          _mm256_load_si256(reinterpret_cast<const __m256i *>(bytes));
      shift[half] =
          _mm256_load_si256(reinterpret_cast<const __m256i *>(shifts));
    }
    mask = _mm256_set1_epi32((1 << bits) - 1);
  }

  /// Stores the values of 16 codes. All 16 bytes from `codes` on can be read.
  NNC_INLINE void look_up(const unsigned char *codes, float *to) const {
    const __m256i all = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(codes)));
    NNC_UNROLL for (int half = 0; half < 2; ++half) {
      const __m256i index = _mm256_and_si256(
          _mm256_srlv_epi32(_mm256_shuffle_epi8(all, spread[half]),
                            shift[half]),
          mask);
      _mm256_storeu_ps(to + 8 * half, choose(index));
    }
  }

private:
  NNC_INLINE __m256 choose(__m256i index) const {
    // A lookup takes the lowest three bits; the others choose, as signs.
    const auto in = [&](int i) {
      return _mm256_permutevar8x32_ps(part[i], index);
    };
    const __m256 fourth = _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)),
                 fifth = _mm256_castsi256_ps(_mm256_slli_epi32(index, 27));
    switch (kind) {
    case 0:
      return in(0);
    case 1:
      return _mm256_blendv_ps(in(0), in(1), fourth);
    case 2:
      return _mm256_blendv_ps(_mm256_blendv_ps(in(0), in(1), fourth),
                              _mm256_blendv_ps(in(2), in(3), fourth), fifth);
    default:
      return _mm256_i32gather_ps(table, index, 4);
    }
  }
  const float *table;
  int kind;
  __m256 part[4];
  __m256i spread[2], shift[2], mask;
};
#endif

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_CODE_LANES_H
