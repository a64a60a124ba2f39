//===- short_gates.h - Sigmoids and tangents in 16 bits -------------------===//
//
// TFLite's logistic function and hyperbolic tangent in fixed point of 16 bits,
// as gemmlowp defines them. An integer x with n integer bits represents x *
// 2^(n - 15). Results have 0 integer bits and an error of a few units.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_SHORT_GATES_H
#define NNC_SIMD_SHORT_GATES_H

#include "runtime/functions.h"
#include "runtime/simd/fixed_point.h"

namespace nnc {

/// The low 16 bits of x as a signed number.
NNC_INLINE int32_t short_wrap(int32_t x) { return static_cast<int16_t>(x); }

/// The product of two fixed-point numbers, rounded to nearest. It has the sum
/// of their integer bits.
NNC_INLINE int32_t short_times(int32_t a, int32_t b) {
  return a == INT16_MIN && b == INT16_MIN ? INT16_MAX
                                          : (a * b + (1 << 14)) >> 15;
}

/// x * 2^bits, saturated.
NNC_INLINE int32_t short_shift_up(int32_t x, int32_t bits) {
  const int32_t most = INT16_MAX >> bits;
  return x > most ? INT16_MAX : x < -most ? INT16_MIN : x * (1 << bits);
}

/// e^a for an a <= 0 with up to 7 integer bits.
NNC_FN inline int32_t short_exp(int32_t a, int32_t integer_bits) {
  if (a == 0)
    return INT16_MAX;
  // e^a is 0 for a below -32.
  if (integer_bits > 5 && a < -(1 << (20 - integer_bits)))
    return 0;
  // The part of a in [-1/4, 0), by the first terms of the series around -1/8.
  const int32_t fraction = 15 - integer_bits, quarter = 1 << (fraction - 2);
  const int32_t part = (a & (quarter - 1)) - quarter;
  const int32_t middle = 28918, third = 10923; // e^(-1/8), 1/3
  const int32_t x = part * (1 << integer_bits) + (1 << 12);
  const int32_t x2 = short_times(x, x), x3 = short_times(x2, x),
                x4 = short_times(x2, x2);
  const int32_t terms =
      divide_by_power(short_times(divide_by_power(x4, 2) + x3, third) + x2, 1);
  int32_t y = middle + short_times(middle, x + terms);
  y = y > INT16_MAX ? INT16_MAX : y;
  // The rest of a is a sum of powers of two: factors e^(-2^i), for i from -2
  // on, as fractions of 2^15.
  const int32_t powers[] = {25520, 19875, 12055, 4435, 600, 11, 0};
  for (int i = -2; i < 5 && i < integer_bits; ++i)
    if ((part - a) >> (fraction + i) & 1)
      y = short_times(y, powers[i + 2]);
  return y;
}

/// 2 / (1 + a) with 2 integer bits, for an a in [0, 1) with 0 integer bits, by
/// three steps of Newton's method.
NNC_FN inline int32_t short_reciprocal(int32_t a) {
  const int32_t half = (a + INT16_MAX + 1) / 2;
  int32_t x = short_wrap(23130 + short_times(half, -15420)); // 48/17, -32/17
  for (int i = 0; i < 3; ++i) {
    const int32_t rest = (1 << 13) - short_times(half, x);
    x = short_wrap(x + short_shift_up(short_times(x, rest), 2));
  }
  return x;
}

/// 1 / (1 + e^-a) for an a with 3 integer bits.
NNC_INLINE int32_t short_sigmoid(int32_t a) {
  if (a == 0)
    return 1 << 14;
  const int32_t y =
      short_shift_up(short_reciprocal(short_exp(a > 0 ? -a : a, 3)), 1);
  return a > 0 ? y : INT16_MAX - y;
}

/// tanh(a) for an a with up to 6 integer bits.
NNC_INLINE int32_t short_tanh(int32_t a, int32_t integer_bits) {
  if (a == 0)
    return 0;
  // (1 - e^-2a) / (1 + e^-2a); with one integer bit more, the same integer
  // stands for 2a.
  const int32_t y = short_shift_up(
      short_reciprocal(short_exp(a > 0 ? -a : a, integer_bits + 1)) - (1 << 13),
      2);
  return a > 0 ? y : -y;
}

} // namespace nnc

#endif // NNC_SIMD_SHORT_GATES_H
