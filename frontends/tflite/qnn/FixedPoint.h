//===- FixedPoint.h - TFLite's arithmetic on fixed-point numbers ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

// The functions of one variable that TFLite's integer kernels compute without
// floats. nnc uses them to build tables at compile time. A fixed-point number
// with n integer bits is a 32-bit integer x that represents x * 2^(n - 31).

#ifndef NNC_FRONTENDS_TFLITE_QNN_FIXEDPOINT_H
#define NNC_FRONTENDS_TFLITE_QNN_FIXEDPOINT_H

#include "dialects/qnn/Qnn.h"

#include <cstdint>

namespace nnc::tflite {

/// Returns x * factor, rounded as `rescale` says. `rescale` is not `real`.
int32_t multiply(int32_t x, qnn::FixedPoint factor, qnn::Rescale rescale);

/// Returns x / 2^bits, rounded to nearest with halves away from zero.
int32_t divideByPower(int32_t x, int bits);

/// Returns e^a as a fixed-point number with 0 integer bits, for an `a` <= 0
/// with `integerBits` integer bits, at most 5.
int32_t expOfNegative(int32_t a, int integerBits);

/// Returns 1 / (1 + e^-a) or tanh(a), respectively, as a fixed-point number
/// with 0 integer bits, for an `a` with 4 integer bits.
int32_t logistic(int32_t a);
int32_t tanh(int32_t a);

/// Returns 1 / sqrt(x) as a FixedPoint factor, for an x >= 0; 0 is treated as
/// 1.
qnn::FixedPoint invertRoot(int32_t x);

/// Returns the largest integer that stays within `integerBits` integer bits
/// when it is multiplied by 2^shift.
int32_t getInputRadius(int integerBits, int shift);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_QNN_FIXEDPOINT_H
