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

// Those that are about x for large x and about 0 for small are max(0, x) less a
// quotient. Its divisor is a power of a polynomial whose largest error in the
// quotient is the least (as Abramowitz and Stegun have erf, 7.1.28).

/// max(0, x), and NaN for -inf, as -inf times a factor of 0 is.
template <class V> NNC_INLINE V positive_part(V x) {
  return fma(vec_abs(x), V(0.5f), x * V(0.5f));
}

/// x / 2 (1 + erf(x / sqrt 2)), absolute error below 1e-6 for |x| < 16.
template <class V, if_f32<V> = 0> NNC_INLINE V gelu(V x) {
  V size = min_fast(V(10.0f), vec_abs(x));
  // To the 16th, 2 / erfc(size / sqrt 2).
  V p =
      horner(size, 0x1.0b5598p+0f, 0x1.aa8214p-5f, 0x1.6a4fa6p-6f,
             0x1.b9c79ap-9f, 0x1.3bec02p-14f, 0x1.4c9a68p-15f, 0x1.d4f4d8p-18f);
  V p2 = p * p, p4 = p2 * p2, p8 = p4 * p4;
  return positive_part(x) - size / (p8 * p8);
}
template <class V, if_f64<V> = 0> NNC_INLINE V gelu(V x) {
  V half = x * V(0.5);
  return half * erf(x * V(0.70710678118654752440)) + half;
}
/// x / (1 + e^y) for 0 <= x <= y, absolute error below 4e-7.
template <class V> NNC_INLINE V over_one_and_exp(V x, V y) {
  V p = horner(y, 0x1.ffffc4p-1f, 0x1.0003eep-3f, 0x1.ff5da8p-8f,
               0x1.5aeec2p-12f, 0x1.275d32p-17f, 0x1.b76e94p-22f);
  V p2 = p * p, p4 = p2 * p2;
  return x / fma(p4, p4, V(1.0f));
}
/// x sigmoid(x), absolute error below 1e-6 for |x| < 16.
template <class V, if_f32<V> = 0> NNC_INLINE V silu(V x) {
  V size = min_fast(V(30.0f), vec_abs(x));
  return positive_part(x) - over_one_and_exp(size, size);
}
template <class V, if_f64<V> = 0> NNC_INLINE V silu(V x) {
  return x * sigmoid(x);
}
/// gelu through tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))),
/// absolute error below 1e-6 for |x| < 16.
template <class V, if_real<V> = 0> NNC_INLINE V gelu_tanh(V x) {
  // (1 + tanh u) / 2 is sigmoid 2u.
  const V linear = constant<V>(2 * 0.79788456080286535588);
  const V cubic = constant<V>(2 * 0.79788456080286535588 * 0.044715);
  if constexpr (is_f32<V>) {
    V size = min_fast(V(10.0f), vec_abs(x));
    return positive_part(x) -
           over_one_and_exp(size, size * fma(size * size, cubic, linear));
  } else {
    return x * sigmoid(x * (x * x * cubic + linear));
  }
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
