//===- elementwise.h - Every scalar function of an elementwise layer ------===//
//
// What the emitted functors call: nnc::relu(x), nnc::add(a, b). Templates over
// V: f32x<W>, float, double, the integers and bool where the function has a
// meaning there, as ONNX defines it (numpy where ONNX is silent):
//   - integers wrap; division cuts towards zero, by zero gives 0;
//   - max, min, clip and relu return NaN if an operand is NaN;
//   - comparisons give a mask for vectors, bool for scalars, and select takes
//     it;
//   - attributes (alpha, gamma, ...) are further arguments of type V.
//
// runtime/routines/elementwise.inc lists all of them.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_ELEMENTWISE_H
#define NNC_SIMD_ELEMENTWISE_H

// Integers know no argument-dependent lookup: their functions come first.
#include "runtime/simd/number.h"

#include "runtime/simd/activations.h"
#include "runtime/simd/arithmetic.h"
#include "runtime/simd/gates.h"
#include "runtime/simd/math.h"
#include "runtime/simd/pow.h"
#include "runtime/simd/trig.h"

#endif // NNC_SIMD_ELEMENTWISE_H
