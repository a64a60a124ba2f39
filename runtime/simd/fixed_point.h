//===- fixed_point.h - Integers times fixed-point numbers -----------------===//
//
// TFLite represents a real factor of an integer as a 32-bit fixed-point number,
// multiplier * 2^(shift - 31), where the multiplier is 0 or at least 2^30. Its
// kernels round products in one of two ways, whose results may differ by one
// unit:
//   - rescale_double: the product's upper half is rounded to nearest, halves
//   up;
//     then a shift to the right rounds to nearest, halves away from zero;
//   - rescale_single: the whole product of 64 bits is shifted once and rounded
//     to nearest, halves up.
// Results wrap around.
//
// For 64-bit sums, TFLite uses 16-bit factors, multiplier * 2^(shift - 15),
// where the multiplier is 0 or at least 2^14: rescale_wide shifts the product
// once and rounds it to nearest, halves up.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_FIXED_POINT_H
#define NNC_SIMD_FIXED_POINT_H

#include "runtime/functions.h"
#include "runtime/simd/wrap.h"

namespace nnc {

template <class T> using if_i32 = enable_if_t<is_same<T, int32_t>::value, int>;

/// x / 2^bits, rounded to nearest with halves away from zero; bits is at least
/// 1, and x is not the least number.
NNC_INLINE int32_t divide_by_power(int32_t x, int32_t bits) {
  const int32_t nudged = x + (x >> 31);
  return (nudged >> bits) + ((nudged >> (bits - 1)) & 1);
}

/// The upper half of 2 * x * multiplier, rounded to nearest, halves up. 2 * x
/// must fit in 32 bits.
NNC_INLINE int32_t doubled_upper_half(int32_t x, int32_t multiplier) {
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__)
  // This instruction rounds like that if x is doubled first.
  int32_t high;
  __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"(2 * x), "r"(multiplier));
  return high;
#else
  return static_cast<int32_t>((int64_t(x) * multiplier + (int64_t(1) << 30)) >>
                              31);
#endif
}

/// The product of two fixed-point numbers. It has the sum of their integer
/// bits.
NNC_INLINE int32_t fixed_times(int32_t a, int32_t b) {
  return static_cast<int32_t>((int64_t(a) * b + (int64_t(1) << 30)) >> 31);
}

/// x * 2^bits, saturated.
NNC_INLINE int32_t shift_up(int32_t x, int32_t bits) {
  const int32_t most = INT32_MAX >> bits;
  return x > most ? INT32_MAX : x < -most ? INT32_MIN : x * (1 << bits);
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

/// Returns x * multiplier * 2^(shift - 15), rounded to nearest. The shift is at
/// most 14.
template <class T,
          enable_if_t<is_same<T, int32_t>::value || is_same<T, int64_t>::value,
                      int> = 0>
NNC_INLINE T rescale_wide(T x, T multiplier, T shift) {
  const int bits = 15 - static_cast<int>(shift);
  const int64_t product = times(int64_t(x), int64_t(multiplier));
  return static_cast<T>(plus(product, int64_t(1) << (bits - 1)) >> bits);
}

/// 1 / sqrt(x) as multiplier * 2^(shift - 31), for an x >= 0; 1 for x = 0. It
/// is computed by Newton's method on numbers with 3 integer bits.
struct fixed_inverse_root {
  int32_t multiplier = INT32_MAX, shift = 0;

  NNC_INLINE explicit fixed_inverse_root(int32_t x) {
    if (x <= 1)
      return;
    // x is scaled to [2^27, 2^29) by powers of 4.
    int32_t power = -11;
    for (; x >= 1 << 29; x /= 4)
      --power;
    for (; x < 1 << 27; x *= 4)
      ++power;
    const int32_t half = divide_by_power(x >> 1, 1);
    int32_t root = 1 << 28;
    for (int i = 0; i < 5; ++i) {
      const int32_t square = fixed_times(root, root);
      const int32_t cube = shift_up(fixed_times(square, root), 6);
      root = shift_up(fixed_times((1 << 28) + (1 << 27), root) -
                          fixed_times(half, cube),
                      3);
    }
    root = fixed_times(root, 1518500250); // sqrt(1/2), without integer bits
    multiplier = static_cast<int32_t>(static_cast<uint32_t>(root)
                                      << (power > 0 ? power : 0));
    shift = power > 0 ? 0 : power;
  }
};

template <class T, if_i32<T> = 0> NNC_INLINE T inverse_root_multiplier(T x) {
  return fixed_inverse_root(x).multiplier;
}
template <class T, if_i32<T> = 0> NNC_INLINE T inverse_root_shift(T x) {
  return fixed_inverse_root(x).shift;
}

} // namespace nnc

#endif // NNC_SIMD_FIXED_POINT_H
