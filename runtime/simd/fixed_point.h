//===- fixed_point.h - Integers times fixed-point numbers -----------------===//
//
// TFLite multiplies an integer by a real number as by a fixed-point number of
// 32 bits, multiplier * 2^(shift - 31), where the multiplier is 0 or at least
// 2^30. Its kernels round in one of two ways, which differ by one unit here and
// there:
//   - rescale_double: the product's upper half is rounded to nearest, halves
//   up;
//     then a shift to the right rounds to nearest, halves away from zero;
//   - rescale_single: the whole product of 64 bits is shifted once and rounded
//     to nearest, halves up.
// Results wrap around.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_FIXED_POINT_H
#define NNC_SIMD_FIXED_POINT_H

#include "runtime/simd/wrap.h"

namespace nnc {

template <class T> using if_i32 = enable_if_t<is_same<T, int32_t>::value, int>;

/// x / 2^bits, rounded to nearest with halves away from zero; bits is at least
/// 1, and x is not the least number.
NNC_INLINE int32_t divide_by_power(int32_t x, int32_t bits) {
  const int32_t nudged = x + (x >> 31);
  return (nudged >> bits) + ((nudged >> (bits - 1)) & 1);
}

/// The upper half of 2 * x * multiplier, rounded to nearest, halves up, for an
/// x of which twice as much fits in 32 bits.
NNC_INLINE int32_t doubled_upper_half(int32_t x, int32_t multiplier) {
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
  // This instruction rounds so, once x is doubled.
  int32_t high;
  __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"(2 * x), "r"(multiplier));
  return high;
#else
  return static_cast<int32_t>((int64_t(x) * multiplier + (int64_t(1) << 30)) >>
                              31);
#endif
}

template <class T, if_i32<T> = 0>
NNC_INLINE T rescale_double(T x, T multiplier, T shift) {
  if (shift > 0)
    x = static_cast<T>(static_cast<uint32_t>(x) << shift);
  const int64_t product = int64_t(x) * multiplier;
  const T high = static_cast<T>((product + (int64_t(1) << 30)) >> 31);
  return shift < 0 ? divide_by_power(high, -shift) : high;
}

template <class T, if_i32<T> = 0>
NNC_INLINE T rescale_single(T x, T multiplier, T shift) {
  const int64_t product = int64_t(x) * multiplier;
  const T bits = 31 - shift;
  return static_cast<T>((product + (int64_t(1) << (bits - 1))) >> bits);
}

} // namespace nnc

#endif // NNC_SIMD_FIXED_POINT_H
