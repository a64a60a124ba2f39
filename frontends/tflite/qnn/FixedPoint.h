//===- FixedPoint.h - TFLite's arithmetic on fixed-point numbers ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

// The functions of one variable that TFLite's integer kernels compute without
// floats, by which tables are made when compiling. Numbers of n integer bits
// are 32-bit integers that stand for x * 2^(n - 31).

#ifndef NNC_FRONTENDS_TFLITE_QNN_FIXEDPOINT_H
#define NNC_FRONTENDS_TFLITE_QNN_FIXEDPOINT_H

#include "dialects/qnn/Qnn.h"

#include <cstdint>

namespace nnc::tflite {

/// Returns x * factor, rounded as `rescale` says. `rescale` is not `real`.
int32_t multiply(int32_t x, qnn::FixedPoint factor, qnn::Rescale rescale);

/// Returns x / 2^bits, rounded to nearest with halves away from zero.
int32_t divideByPower(int32_t x, int bits);

/// Returns e^a as a number without integer bits, for an `a` that is not
/// positive and has `integerBits` integer bits, 5 at most.
int32_t expOfNegative(int32_t a, int integerBits);

/// Returns 1 / (1 + e^-a), or tanh(a), as a number without integer bits, for an
/// `a` that has 4 integer bits.
int32_t logistic(int32_t a);
int32_t tanh(int32_t a);

/// Returns a number that times `multiplier` * 2^(shift - 31) is 1 / sqrt(x),
/// for an x of 0 or more; 0 counts as 1.
qnn::FixedPoint invertRoot(int32_t x);

/// Returns the largest integer that stays within `integerBits` integer bits
/// when it is multiplied by 2^shift.
int32_t getInputRadius(int integerBits, int shift);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_QNN_FIXEDPOINT_H
