//===- requantize.h - Integers on another scale ---------------------------===//
//
// The functions of nn.requantize (dialects/nn/elementwise/Elementwise.td), for
// scalars and for the vectors of bytes.h: saturate(round(x * factor) + Zero),
// where the result, of type T, lies from Low to High. T is float where a float
// holds the integer.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_REQUANTIZE_H
#define NNC_SIMD_REQUANTIZE_H

#include "runtime/functions.h"
#include "runtime/simd/arithmetic.h"
#include "runtime/simd/fixed_point.h"
#include "runtime/simd/number.h"

namespace nnc {

/// Adds the zero point to the scaled sums x, 32-bit integers, and clips the
/// result to [Low, High].
template <class T, int Zero, int Low, int High, class V>
NNC_INLINE auto saturate(V x) {
  if constexpr (Zero != 0)
    x = add(x, V(int32_t(Zero)));
  return cast<T>(min(max(x, V(int32_t(Low))), V(int32_t(High))));
}

/// Requantizes by a 32-bit fixed-point factor. Both the product and the shift
/// round.
template <class T, int Zero, int Low, int High, class V>
NNC_INLINE auto requantize_double(V x, V multiplier, V shift) {
  return saturate<T, Zero, Low, High>(rescale_double(x, multiplier, shift));
}

/// Requantizes by a 32-bit fixed-point factor. Only the shift rounds.
template <class T, int Zero, int Low, int High, class V>
NNC_INLINE auto requantize_single(V x, V multiplier, V shift) {
  return saturate<T, Zero, Low, High>(rescale_single(x, multiplier, shift));
}

/// Requantizes 32-bit or 64-bit integers by a 16-bit fixed-point factor.
template <class T, int Zero, int Low, int High, class V>
NNC_INLINE auto requantize_wide(V x, V multiplier, V shift) {
  return saturate<T, Zero, Low, High>(
      cast<int32_t>(rescale_wide(x, multiplier, shift)));
}

/// Rounds x to nearest, halves to even, adds the zero point and clips the
/// result to [Low, High].
template <class T, int Zero, int Low, int High>
NNC_INLINE T quantize_to(float x) {
  // A cast limits reals to the range of its type.
  constexpr bool limited = !is_same<T, float>::value &&
                           Low <= numeric_limits<T>::min() &&
                           High >= numeric_limits<T>::max();
  float y = round(x);
  if constexpr (Zero != 0)
    y = add(y, float(Zero));
  if constexpr (!limited)
    y = clip(y, float(Low), float(High));
  return cast<T>(y);
}

/// Requantizes by a real factor.
template <class T, int Zero, int Low, int High, class V, class F>
NNC_INLINE auto requantize_real(V x, F factor) {
  return quantize_to<T, Zero, Low, High>(mul(cast<float>(x), factor));
}
/// Requantizes by a real factor. `shift`, in units of the result, is added to
/// the product.
template <class T, int Zero, int Low, int High, class V, class F>
NNC_INLINE auto requantize_real(V x, F factor, F shift) {
  return quantize_to<T, Zero, Low, High>(
      add(mul(cast<float>(x), factor), shift));
}

/// Requantizes the real number x by the factor `factor + rest`. x is limited
/// before the product, so that it need not be a finite number.
template <class T, int Zero, int Low, int High, class F>
NNC_INLINE auto requantize_parts(F x, F factor, F rest) {
  const F a = F(float(Low - Zero)) / factor, b = F(float(High - Zero)) / factor;
  const F y = min_fast(max_fast(x, a), b);
  return quantize_to<T, Zero, Low, High>(fma(y, factor, y * rest));
}

} // namespace nnc

#endif // NNC_SIMD_REQUANTIZE_H
