//===- activations.h - Activations made of exponentials -------------------===//
//
// Functions as elementwise.h describes them. Cheaper ones are in arithmetic.h
// and gates.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_ACTIVATIONS_H
#define NNC_SIMD_ACTIVATIONS_H

#include "runtime/functions.h"
#include "runtime/simd/arithmetic.h"
#include "runtime/simd/math.h"

namespace nnc {

/// log(1 + e^x).
template <class V, if_real<V> = 0> NNC_INLINE V softplus(V x) {
  return max_fast(V(0.0f), x) + log1p(exp(-nnc::abs(x)));
}
/// x tanh(softplus(x)).
template <class V, if_real<V> = 0> NNC_INLINE V mish(V x) {
  // tanh(log(1 + e)) = (e^2 + 2e) / (e^2 + 2e + 2); 1 beyond x = 20.
  V e = exp(min_fast(V(20.0f), x));
  V n = e * (e + V(2.0f));
  return x * (n / (n + V(2.0f)));
}

/// x, or alpha (e^x - 1) below 0.
template <class V, if_real<V> = 0> NNC_INLINE V elu(V x, V alpha) {
  return select(x < V(0.0f), alpha * expm1(x), x);
}
/// gamma elu(x, alpha).
template <class V, if_real<V> = 0> NNC_INLINE V selu(V x, V alpha, V gamma) {
  return gamma * elu(x, alpha);
}
/// max(0, x) + min(0, alpha (e^(x / alpha) - 1)).
template <class V, if_real<V> = 0> NNC_INLINE V celu(V x, V alpha) {
  return max_fast(V(0.0f), x) + min_fast(V(0.0f), alpha * expm1(x / alpha));
}

} // namespace nnc

#endif // NNC_SIMD_ACTIVATIONS_H
