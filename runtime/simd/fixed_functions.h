//===- fixed_functions.h - Functions of fixed-point numbers ---------------===//
//
// TFLite's functions of fixed-point numbers. An integer x with n integer bits
// represents x * 2^(n - 31). Every step rounds as in TFLite, so that results
// are bitwise equal.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_FIXED_FUNCTIONS_H
#define NNC_SIMD_FIXED_FUNCTIONS_H

#include "runtime/functions.h"
#include "runtime/simd/fixed_point.h"

namespace nnc {

/// The number of bits behind the sign bit that are equal to it; 31 for 0 and
/// -1.
template <class T, if_i32<T> = 0> NNC_INLINE T sign_bits(T x) {
  uint32_t rest = static_cast<uint32_t>(x < 0 ? ~x : x);
  T bits = 31;
  for (; rest != 0; rest >>= 1)
    --bits;
  return bits;
}

/// 1 / (1 + a), for an `a` in [0, 1], both with 0 integer bits: three steps of
/// Newton's method, starting at 48/17 - 32/17 * (1 + a) / 2.
NNC_INLINE int32_t one_over_one_plus(int32_t a) {
  const int32_t half = static_cast<int32_t>((int64_t(a) + INT32_MAX + 1) / 2);
  int32_t x = 1515870810 + fixed_times(half, -1010580540);
  for (int i = 0; i < 3; ++i)
    x += shift_up(fixed_times(x, (1 << 29) - fixed_times(half, x)), 2);
  return shift_up(x, 1);
}

/// The multiplier m of 1 / x = m * 2^(sign_bits(x) - 61) for an x >= 1. For an
/// x < 1, the multiplier for 1.
template <class T, if_i32<T> = 0> NNC_INLINE T reciprocal_multiplier(T x) {
  if (x < 1)
    return INT32_MAX;
  const uint32_t fraction = static_cast<uint32_t>(x) << (sign_bits(x) + 1);
  return one_over_one_plus(static_cast<int32_t>(fraction ^ (1u << 31)));
}

/// e^x with 12 integer bits, for an x <= 0 with 5 integer bits.
template <class T, if_i32<T> = 0> NNC_INLINE T exp_q12(T x) {
  if (x >= 0)
    return 1 << 19;
  // The first terms of the series around -1/8 give e^part for a part of x in
  // [-1/4, 0); what is left is a sum of powers of two from 1/4 on.
  const int32_t part = (x & ((1 << 24) - 1)) - (1 << 24);
  const int32_t a = shift_up(part, 5) + (1 << 28);
  const int32_t a2 = fixed_times(a, a), a3 = fixed_times(a2, a),
                a4 = fixed_times(a2, a2);
  const int32_t third = fixed_times(divide_by_power(a4, 2) + a3, 715827883);
  const int32_t middle = 1895147668; // e^(-1/8)
  int32_t y = middle + fixed_times(middle, a + divide_by_power(third + a2, 1));
  const int32_t powers[] = {1672461947, 1302514674, 790015084, 290630308,
                            39332535,   720401,     242};
  for (int i = 0; i < 7; ++i)
    if ((part - x) >> (24 + i) & 1)
      y = fixed_times(y, powers[i]);
  return divide_by_power(y, 12);
}

/// ln x with 5 integer bits, for an x >= 1 with 12 integer bits.
template <class T, if_i32<T> = 0> NNC_INLINE T log_q5(T x) {
  if (x < 1 << 19)
    return 0;
  const int32_t root = 1518500250;        // sqrt(1/2)
  const int32_t fourth_root = 1805811301; // sqrt(sqrt(1/2))
  // x = 2^power * r with r around the fourth root: of x and of x / sqrt(1/2),
  // the one that is less after the shift. Powers have 6 integer bits.
  const int32_t own = sign_bits(x);
  const int32_t r_own = shift_up(fixed_times(shift_up(x, own), root), 1);
  const int32_t power_own = (11 - own) * (1 << 25) + (1 << 23);
  const int32_t less = sign_bits(fixed_times(x, root));
  const int32_t r_less = shift_up(x, less);
  const int32_t power_less = (12 - less) * (1 << 25) - (1 << 23);
  const int32_t r = r_own < r_less ? r_own : r_less;
  const int32_t power = power_own > power_less ? power_own : power_less;
  // ln r is a fraction of polynomials of q, twice the distance.
  const int32_t p = static_cast<int32_t>((int64_t(r) + fourth_root + 1) / 2);
  const int32_t q = 2 * (r - fourth_root);
  const int32_t square = fixed_times(q, q);
  const int32_t above =
      fixed_times(q, r) + fixed_times(fixed_times(q, square), 117049297);
  const int32_t below =
      fixed_times(p, 1057819769 + q + fixed_times(127690142, square)) +
      fixed_times(638450708, q);
  const int32_t log_r =
      fixed_times(divide_by_power(above, 6), one_over_one_plus(below));
  return shift_up(fixed_times(power, 1488522236) + log_r, 1); // ln 2
}

} // namespace nnc

#endif // NNC_SIMD_FIXED_FUNCTIONS_H
