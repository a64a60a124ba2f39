//===- Accuracy.h - Rounding in rewrites of real arithmetic ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Rules for rewrites that are exact for real numbers but round floats
// differently, such as x / c to x * (1 / c), or (x - m) / s to
// x * (1 / s) - m / s. Two rules say when they are allowed.
//
// Rule 1: steps. A floor, a comparison or a cast to integers turns a difference
// in the last bit into a whole step. If a value may reach such an op through
// ops that keep its last bits, no rewrite may change these bits
// (`reachesStep`). The search ends at sums of products and at functions that
// are not correctly rounded: their last bits depend on the implementation, so
// that no model can rely on them.
//
// Rule 2: cancellation. Let a chain of ops scale and shift x, and let z = S x
// be the product of x and all scales. Let c_i be the sum of the shifts up to op
// i, each times the scales behind it. In units of the result, op i then rounds
// the value z + c_i. With the unit roundoff u, the error of the chain is at
// most
//
//   E = u * sum of |z + c_i|.
//
// The composed form, one multiply and one add, computes z + T, where T is the
// last of the c_i. It rounds S, S x, T and the result; its error is at most
//
//   u (2 |z| + |T| + |z + T|) <= 3 u (|z + T| + |T|).
//
// E includes u |z + T|. Let D be the difference of the largest and the smallest
// c_i. Then D <= sum of |z + c_i| for every z, so that if |T| <= D, the error
// of the composed form is at most 6 E for every x. This condition is the rule
// (`Affine::isAccurate`).
//
// - A chain that begins with a product rounds z itself, so that c_1 = 0 and D
//   >= |T|: the rule holds.
// - (x - m) / s rounds x - m, which is near zero for x near m, and never z.
//   Here T = -m / s and D = 0, and the rule does not hold: x * (1 / s) - m / s
//   has an error of u |m / s| where the chain is exact.
// - If x itself has an error of u |x| or more, because it is a sum of products
//   or the like (`isInexact`), the chain inherits the error u |z|. This counts
//   as c_0 = 0, and the rule holds. Batch normalisations behind convolutions
//   are such chains.
// - If S is a power of two and T is a float, one multiply and one add round
//   only the result (`Affine::roundsOnce`), and no chain is more accurate.
//
// If a chain is folded into the weights of a product behind it, the sum over k
// of w_k (z_k + T_k) is computed as the sum of w_k z_k plus the sum of w_k T_k.
// The same estimate for each k, times |w_k|, gives the same rule.
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
