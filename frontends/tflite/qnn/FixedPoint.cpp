//===- FixedPoint.cpp - TFLite's arithmetic on fixed-point numbers --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/qnn/FixedPoint.h"

#include <cmath>
#include <limits>

using namespace nnc;
using namespace nnc::tflite;

static constexpr int32_t kOne = std::numeric_limits<int32_t>::max();

/// Returns the product of two fixed-point numbers, rounded to nearest. It has
/// the sum of the factors' integer bits.
static int32_t times(int32_t a, int32_t b) {
  return static_cast<int32_t>((int64_t(a) * b + (int64_t(1) << 30)) >> 31);
}

/// Returns x * 2^bits, saturated.
static int32_t shiftUp(int32_t x, int bits) {
  int32_t most = (1 << (31 - bits)) - 1;
  if (x > most)
    return kOne;
  return x < -most ? std::numeric_limits<int32_t>::min() : x * (1 << bits);
}

int32_t nnc::tflite::divideByPower(int32_t x, int bits) {
  if (bits == 0)
    return x;
  int64_t half = int64_t(1) << (bits - 1);
  return static_cast<int32_t>((x + half - (x < 0)) >> bits);
}

int32_t nnc::tflite::multiply(int32_t x, qnn::FixedPoint factor,
                              qnn::Rescale rescale) {
  auto multiplier = static_cast<int32_t>(factor.multiplier);
  if (rescale == qnn::Rescale::single_rounding) {
    int bits = 31 - factor.shift;
    return static_cast<int32_t>(
        (int64_t(x) * multiplier + (int64_t(1) << (bits - 1))) >> bits);
  }
  // A result that does not fit wraps around, as it does in the emitted code.
  auto shifted = static_cast<int32_t>(static_cast<uint32_t>(x)
                                      << std::max(factor.shift, 0));
  return divideByPower(times(shifted, multiplier), std::max(-factor.shift, 0));
}

/// Returns e^a for an `a` in [-1/4, 0) with 0 integer bits, by the first terms
/// of the Taylor series around -1/8.
static int32_t expOfQuarter(int32_t a) {
  constexpr int32_t kMiddle = 1895147668; // e^(-1/8)
  constexpr int32_t kThird = 715827883;
  int32_t x = a + (1 << 28), x2 = times(x, x), x3 = times(x2, x),
          x4 = times(x2, x2);
  int32_t rest =
      divideByPower(times(divideByPower(x4, 2) + x3, kThird) + x2, 1);
  return kMiddle + times(kMiddle, x + rest);
}

int32_t nnc::tflite::expOfNegative(int32_t a, int integerBits) {
  if (a == 0)
    return kOne;
  int fractionBits = 31 - integerBits;
  int32_t quarter = 1 << (fractionBits - 2);
  int32_t part = (a & (quarter - 1)) - quarter;
  int32_t result = expOfQuarter(shiftUp(part, integerBits));
  int32_t whole = part - a; // a multiple of 1/4
  // e^(-2^i), for i from -2 on.
  constexpr int32_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308,
                                 39332535,   720401,     242};
  for (int i = 0; i < 7 && i - 2 < integerBits; ++i)
    if (whole & (1 << (fractionBits + i - 2)))
      result = times(result, kPowers[i]);
  return result;
}

/// Returns 2 / (1 + a) with 2 integer bits, for an `a` in [0, 1] with 0 integer
/// bits, by three steps of Newton's method.
static int32_t reciprocal(int32_t a) {
  auto half = static_cast<int32_t>((int64_t(a) + kOne + 1) / 2);
  constexpr int32_t kFirst = 1515870810;  // 48/17, with 2 integer bits
  constexpr int32_t kSlope = -1010580540; // -32/17
  int32_t x = kFirst + times(half, kSlope);
  for (int i = 0; i < 3; ++i)
    x += shiftUp(times(x, (1 << 29) - times(half, x)), 2);
  return x;
}

int32_t nnc::tflite::logistic(int32_t a) {
  if (a == 0)
    return 1 << 30;
  int32_t positive = shiftUp(reciprocal(expOfNegative(a > 0 ? -a : a, 4)), 1);
  return a > 0 ? positive : kOne - positive;
}

int32_t nnc::tflite::tanh(int32_t a) {
  if (a == 0)
    return 0;
  // tanh(a) = (1 - e^-2a) / (1 + e^-2a); with one integer bit more, the same
  // integer stands for 2a.
  int32_t x = reciprocal(expOfNegative(a > 0 ? -a : a, 5));
  int32_t positive = shiftUp(x - (1 << 29), 2);
  return a > 0 ? positive : -positive;
}

qnn::FixedPoint nnc::tflite::invertRoot(int32_t x) {
  if (x <= 1)
    return {kOne, 0};
  // x is scaled to [2^27, 2^29) by powers of 4.
  int shift = -11;
  for (; x >= 1 << 29; x /= 4)
    --shift;
  for (; x < 1 << 27; x *= 4)
    ++shift;
  // Newton's method on numbers with 3 integer bits, starting at 1.
  int32_t half = divideByPower(x >> 1, 1), root = 1 << 28;
  constexpr int32_t kThreeHalves = (1 << 28) + (1 << 27);
  for (int i = 0; i < 5; ++i) {
    int32_t cube = shiftUp(times(times(root, root), root), 6);
    root = shiftUp(times(kThreeHalves, root) - times(half, cube), 3);
  }
  root = times(root, 1518500250); // sqrt(1/2), without integer bits
  return shift > 0 ? qnn::FixedPoint{int64_t(root) << shift, 0}
                   : qnn::FixedPoint{root, shift};
}

int32_t nnc::tflite::getInputRadius(int integerBits, int shift) {
  double most = ((1 << integerBits) - 1) * std::ldexp(1.0, 31 - integerBits);
  return static_cast<int32_t>(std::floor(std::ldexp(most, -shift)));
}
