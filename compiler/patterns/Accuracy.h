//===- Accuracy.h - What rewrites of real arithmetic may change -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A rewrite such as x / c to x * (1 / c), or (x - m) / s to x * (1 / s) - m /
// s, is exact for real numbers and rounds other values for floats. Two rules
// say when that is allowed.
//
// 1. Steps. A floor, a comparison, a cast to integers, ... turns a difference
// in
//    the last bit into one of a whole step. Where a value may reach such an op,
//    through ops that keep its last bits, no rewrite changes these bits
//    (`reachesStep`). Sums of products and functions that are not correctly
//    rounded end the search: their last bits depend on the implementation, so
//    that no model can rely on them.
//
// 2. Cancellation. Let ops scale and shift x one after the other, and let z = S
// x
//    be the product of x and all scales. In units of the result, op i of the
//    chain rounds a value z + c_i, where c_i is the sum of the shifts so far,
//    each times the scales behind it. With u the unit roundoff the chain's
//    error is up to
//
//      E = u * sum of |z + c_i|.
//
//    One multiply and one add compute z + T, where T is the last of the c_i,
//    and round S, S x, T and the result: their error is up to
//
//      u (2 |z| + |T| + |z + T|) <= 3 u (|z + T| + |T|).
//
//    Of the two terms |z + T| is in E. If D is the largest c_i less the
//    smallest then D <= sum of |z + c_i| for every z, so that |T| <= D bounds
//    the error of the composed form by 6 E, for every x. That is the rule
//    (`Affine::isAccurate`). A chain that begins with a product rounds z
//    itself, so c_1 = 0, D >= |T|, and the rule holds. (x - m) / s rounds x -
//    m, near zero for x near m, and never z: T = -m / s, D = 0, and the rule
//    does not hold, as x * (1 / s) - m / s is off by u |m / s| where the chain
//    is exact.
//
//    Where x is itself off by u |x| or more, because it is a sum of products or
//    the like (`isInexact`), the chain inherits u |z| from it: c_0 = 0 counts,
//    and the rule holds. Batch norms behind convolutions are such chains.
//
//    Where S is a power of two and T a float, a multiply and an add round the
//    result alone (`Affine::roundsOnce`), which no chain does better.
//
// Folding a chain into the weights of a product behind it computes the sum over
// k of w_k (z_k + T_k) as the sum of w_k z_k and that of w_k T_k. The same
// estimate, for each k times |w_k|, gives the same rule.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_ACCURACY_H
#define NNC_COMPILER_PATTERNS_ACCURACY_H

#include "dialects/nn/Nn.h"

namespace nnc {

/// Returns true if multiplying a float by `value` changes only its exponent.
bool isPowerOfTwo(double value);

/// Returns true if the float tensor `value` has an error of its own of the
/// order of its last bit: it is a sum of several products or the result of a
/// function that is not correctly rounded, or it is assembled from such values
/// alone.
bool isInexact(mlir::Value value);

/// Returns true if the bits of `value` may reach an op that turns a difference
/// in the last bit into a whole step, such as a floor or a comparison. Also
/// returns true if the search for such an op would take too long.
bool reachesStep(mlir::Value value);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_ACCURACY_H
