//===- activations.h - Activations made of exponentials -------------------===//
//
// As elementwise.h has it. The cheaper ones are in arithmetic.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_ACTIVATIONS_H
#define NNC_SIMD_ACTIVATIONS_H

#include "runtime/simd/arithmetic.h"
#include "runtime/simd/math.h"

namespace nnc {

/// x / 2 (1 + erf(x / sqrt 2)), absolute error below 1e-6 for |x| < 16. The
/// quotient of polynomials, least in its largest error, is erf(x / sqrt 2) / 2x
/// for |x| < 5.6; further out erf is 1 or -1.
template <class V, if_f32<V> = 0> NNC_INLINE V gelu(V x) {
  V size = vec_abs(x), z = x * x;
  V over = horner(z, 0x1.98843ap-2f, 0x1.25a986p-5f, 0x1.3aedd6p-8f,
                  0x1.8eca58p-13f, 0x1.ba49f8p-18f, 0x1.74fbd2p-26f);
  V under = horner(z, 1.0f, 0x1.06ace6p-2f, 0x1.e84f7cp-6f, 0x1.0695eep-9f,
                   0x1.53c9fep-14f, 0x1.3e232ep-20f);
  V half_erf = select(size < V(5.6f), size * over / under, V(0.5f));
  return fma(size, half_erf, x * V(0.5f));
}
template <class V, if_f64<V> = 0> NNC_INLINE V gelu(V x) {
  V half = x * V(0.5);
  return half * erf(x * V(0.70710678118654752440)) + half;
}
/// gelu through tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class V, if_real<V> = 0> NNC_INLINE V gelu_tanh(V x) {
  // (1 + tanh u) / 2 is sigmoid 2u.
  V u = x * (x * x * constant<V>(2 * 0.79788456080286535588 * 0.044715) +
             constant<V>(2 * 0.79788456080286535588));
  return x * sigmoid(u);
}
/// x sigmoid(x).
template <class V, if_real<V> = 0> NNC_INLINE V silu(V x) {
  return x * sigmoid(x);
}
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
