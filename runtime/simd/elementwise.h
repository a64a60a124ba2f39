//===- elementwise.h - Every scalar function of an elementwise layer ------===//
//
// The functions that emitted functors call: nnc::relu(x), nnc::add(a, b). They
// are templates over V: f32x<W>, float, double, the integers and bool where the
// function has a meaning there, as ONNX defines it (numpy where ONNX is
// silent):
//   - integers wrap; division cuts towards zero, and division by zero gives 0;
//   - max, min, clip and relu return NaN if an operand is NaN;
//   - comparisons give a mask for vectors and bool for scalars, which select
//     takes;
//   - attributes (alpha, gamma, ...) are further arguments of type V.
//
// runtime/routines/elementwise/functions.inc lists all of them.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_ELEMENTWISE_H
#define NNC_SIMD_ELEMENTWISE_H

// Functions of integers come first, since argument-dependent lookup does not
// find them.
#include "runtime/simd/number.h"

#include "runtime/simd/activations.h"
#include "runtime/simd/arithmetic.h"
#include "runtime/simd/fixed_functions.h"
#include "runtime/simd/fixed_gates.h"
#include "runtime/simd/fixed_point.h"
#include "runtime/simd/gates.h"
#include "runtime/simd/math.h"
#include "runtime/simd/pow.h"
#include "runtime/simd/small_floats.h"
#include "runtime/simd/trig.h"

#endif // NNC_SIMD_ELEMENTWISE_H
