//===- words.h - Decodes weights of 4 and 8 bits in registers -------------===//
//
// A word of 32 bits holds consecutive weights of a column, and a vector holds
// the words of W columns. The weight in bits [p, p + BITS) of a word, where p +
// BITS is at most 16, becomes a float without a conversion: the word gets the
// exponent of 2^23, and all its other bits are cleared. It then is the float
// 2^23 + q * 2^p, from which 2^23 + zero_point * 2^p is subtracted without
// rounding. The other factor of the product is divided by 2^p before, once for
// all columns. Two instructions a weight beside the multiply-add, and three a
// word, suffice for W weights.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_WORDS_H
#define NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_WORDS_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/block_matmul/plan.h"
#include "runtime/simd/bytes.h"

namespace nnc {

/// Decodes vectors of W words.
template <int BITS, int W> struct block_decoder {
  using words = block_words<BITS>;
  static constexpr int fields = words::in_half;

  /// The bits of the float 2^23, whose last bit stands for 1.
  static constexpr int32_t exponent = 0x4b000000;
  static constexpr float one = 8388608.0f;

  /// 2^p of field f of half a word.
  static constexpr float unit(int f) { return float(1 << BITS * f); }

  /// The exponent, as a value that the compiler does not know. Otherwise g++
  /// sets it again for each weight.
  static NNC_INLINE i32x<W> hidden_exponent() {
    volatile int32_t hidden = exponent;
    return i32x<W>(hidden);
  }

  /// Half H of each word, with the exponent of 2^23 set.
  template <int H>
  static NNC_INLINE i32x<W> half(i32x<W> word, i32x<W> exponent) {
    if constexpr (H == 0)
      return word | exponent;
    else
      return shift_right_logical<16>(word) | exponent;
  }

  /// The weights in field f of half a word, times unit(f), plus 2^23.
  static NNC_INLINE f32x<W> raised(i32x<W> half, int f) {
    const int32_t mask = ((1 << BITS) - 1) << BITS * f;
    return bit_cast_float(half & i32x<W>(mask | exponent));
  }

  /// The zero point in the form of raised(), which is subtracted from that.
  static NNC_INLINE f32x<W> raised_zero(f32x<W> zero, int f) {
    return fma(zero, f32x<W>(unit(f)), f32x<W>(one));
  }
};

/// Copies `count` rows of k floats from x to `to`, each padded with zeros to
/// whole words, and divides them by the unit of the field that they are
/// multiplied with.
template <int BITS, int W>
inline void copy_scaled(float *to, const float *x, int count, int k) {
  using decoder = block_decoder<BITS, W>;
  constexpr int width = larger(W, decoder::fields);
  float factors[width];
  for (int i = 0; i < width; ++i)
    factors[i] = 1.0f / decoder::unit(i % decoder::fields);
  const int length = block_words<BITS>::padded(k);
  for (int row = 0; row < count; ++row, x += k, to += length) {
    int i = 0;
    if constexpr (W % decoder::fields == 0) {
      const f32x<W> factor = f32x<W>::load(factors);
      for (; i + W <= k; i += W)
        (f32x<W>::load(x + i) * factor).store(to + i);
    }
    for (; i < k; ++i)
      to[i] = x[i] * factors[i % decoder::fields];
    for (; i < length; ++i)
      to[i] = 0;
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_WORDS_H
