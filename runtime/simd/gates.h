//===- gates.h - gelu and silu: x times a number in [0, 1] ----------------===//
//
// Functions as elementwise.h describes them. gelu and silu approach x for large
// x and 0 for very negative x. They are computed as max(0, x) - |x| / (1 + e),
// where e, the odds of the gate at |x|, is a power of a polynomial, as in
// Abramowitz and Stegun's erf, 7.1.28. This takes half as long as an
// exponential and a division.
//
// The polynomial is 1 at 0, so that values near 0, which are about x / 2, have
// an error of a few units in the last place. Its other coefficients are fitted
// for the smallest maximum error of the quotient, of which less is allowed near
// 0, in proportion to |x|. All are positive: the odds of large numbers are
// infinite and never NaN. Powers that the fit can do without are left out.
//
// An error "near 0" is relative and holds for |x| < 1/4 and for all positive x;
// test/runtime/activations.cpp checks it, elementwise.cpp the absolute error.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_GATES_H
#define NNC_SIMD_GATES_H

#include "runtime/functions.h"
#include "runtime/simd/horner.h"
#include "runtime/simd/traits.h"
#include "runtime/simd/vec.h"

#include <math.h>

namespace nnc {

/// Returns |x|, but at most `most` for a positive x. A negative x has no bound,
/// so that the quotient in gate_of_odds() is NaN for -inf, as the product of
/// -inf and a gate of 0 is.
template <class V> NNC_INLINE V gate_size(V x, float most) {
  return vec_abs(min_fast(V(most), x));
}
/// Returns x times a gate, a function from 0 to 1, as max(0, x) - size / (1 +
/// root^2): size is |x|, and 1 / (1 + root^2) is the gate at -size.
template <class V> NNC_INLINE V gate_of_odds(V x, V size, V root) {
  return max_fast(V(0.0f), x) - size / fma(root, root, V(1.0f));
}
/// Returns 1 + c1 x + ... + c5 x^5 + c7 x^7 + c11 x^11.
template <class V>
NNC_INLINE V gelu_polynomial(V x, float c1, float c2, float c3, float c4,
                             float c5, float c7, float c11) {
  V z = x * x;
  V odd = fma(z, fma(z * z, V(c11), V(c7)), V(c5));
  odd = fma(z, fma(z, odd, V(c3)), V(c1));
  return fma(x, odd, horner(z, 1.0f, c2, c4));
}

/// x / 2 (1 + erf(x / sqrt 2)), absolute error below 1e-6 for |x| < 16, near 0
/// below 5e-7.
template <class V, if_f32<V> = 0> NNC_INLINE V gelu(V x) {
  V size = gate_size(x, 10.0f);
  // p^4 is 2 / erfc(size / sqrt 2) - 1.
  V p = gelu_polynomial(size, 0x1.9884a8p-2f, 0x1.45d334p-4f, 0x1.da1b06p-6f,
                        0x1.009960p-7f, 0x1.11e108p-9f, 0x1.462e92p-13f,
                        0x1.d81f88p-23f);
  return gate_of_odds(x, size, p * p);
}
template <class V, if_f64<V> = 0> NNC_INLINE V gelu(V x) {
  return x * V(0.5) * ::erfc(x * V(-0.70710678118654752440));
}
/// x sigmoid(x), absolute error below 1e-6 for |x| < 16, near 0 below 5e-7.
template <class V, if_f32<V> = 0> NNC_INLINE V silu(V x) {
  V size = gate_size(x, 30.0f);
  // p^4 is e^size.
  V z = size * size;
  V odd = horner(z, 0x1.00003ep-2f, 0x1.56a18ap-9f, 0x1.5943f0p-17f,
                 0x1.318922p-25f);
  V p = fma(size, odd, horner(z, 1.0f, 0x1.ffe6e0p-6f, 0x1.4751b0p-13f));
  return gate_of_odds(x, size, p * p);
}
template <class V, if_f64<V> = 0> NNC_INLINE V silu(V x) {
  return x / (V(1.0) + ::exp(-x));
}
/// The tanh form of gelu: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))),
/// absolute error below 1e-6 for |x| < 16, near 0 below 8e-7.
template <class V, if_f32<V> = 0> NNC_INLINE V gelu_tanh(V x) {
  V size = gate_size(x, 10.0f);
  // p^8 is e^(2 sqrt(2 / pi) (size + 0.044715 size^3)): (1 + tanh u) / 2 is
  // sigmoid 2u.
  V p = gelu_polynomial(size, 0x1.988494p-3f, 0x1.45cff4p-6f, 0x1.50fc22p-7f,
                        0x1.cc4762p-10f, 0x1.1ff546p-12f, 0x1.6e92fep-16f,
                        0x1.10a280p-26f);
  V p2 = p * p;
  return gate_of_odds(x, size, p2 * p2);
}
template <class V, if_f64<V> = 0> NNC_INLINE V gelu_tanh(V x) {
  constexpr double twice = 2 * 0.79788456080286535588; // sqrt(2 / pi)
  return x / (V(1.0) + ::exp(-twice * x * (V(1.0) + V(0.044715) * x * x)));
}

} // namespace nnc

#endif // NNC_SIMD_GATES_H
