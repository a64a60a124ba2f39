// The rounding that tests expect of types of two bytes and of tf32.
#ifndef NNC_TEST_CUDA_ROUNDING_H
#define NNC_TEST_CUDA_ROUNDING_H

#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"

#include <cmath>
#include <type_traits>

namespace nnc_test {

/// The largest relative error of a number that is rounded to T: 0 for floats,
/// in which kernels compute.
template <class T>
constexpr double rounding_unit = std::is_same<T, nnc::f16>::value    ? 0x1p-11
                                 : std::is_same<T, nnc::bf16>::value ? 0x1p-8
                                                                     : 0;

/// x rounded to the 11 significant bits of tf32, to nearest with ties away from
/// zero. x is no denormal number.
inline float as_tf32(float x) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(
      std::ldexp(std::round(std::ldexp(fraction, 11)), exponent - 11));
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_ROUNDING_H
