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

#include "runtime/simd/math.h"
#include "runtime/simd/number.h"
#include "runtime/simd/pow.h"
#include "runtime/simd/trig.h"

namespace nnc {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <class V, if_real<V> = 0> NNC_INLINE V add(V a, V b) { return a + b; }
template <class V, if_real<V> = 0> NNC_INLINE V sub(V a, V b) { return a - b; }
template <class V, if_real<V> = 0> NNC_INLINE V mul(V a, V b) { return a * b; }
template <class V, if_real<V> = 0> NNC_INLINE V div(V a, V b) { return a / b; }
template <class V, if_real<V> = 0> NNC_INLINE V neg(V x) { return -x; }

template <class V, if_f32<V> = 0> NNC_INLINE V abs(V x) { return vec_abs(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V abs(V x) { return ::fabs(x); }

/// -1, 0 or 1; zero and NaN come back as they are.
template <class V, if_real<V> = 0> NNC_INLINE V sign(V x) {
  return select(x > V(0.0f), V(1.0f), select(x < V(0.0f), V(-1.0f), x));
}

template <class V, if_f32<V> = 0> NNC_INLINE V floor(V x) {
  return vec_floor(x);
}
template <class V, if_f32<V> = 0> NNC_INLINE V ceil(V x) { return vec_ceil(x); }
/// To the nearest whole number, halves to the even one.
template <class V, if_f32<V> = 0> NNC_INLINE V round(V x) {
  return vec_round(x);
}
template <class V, if_f64<V> = 0> NNC_INLINE V floor(V x) { return ::floor(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V ceil(V x) { return ::ceil(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V round(V x) { return ::rint(x); }

/// a - b floor(a / b), computed exactly: the sign is b's. fmod's is a's.
template <class V, if_real<V> = 0> NNC_INLINE V fmod(V a, V b) {
  if constexpr (std::is_same<V, double>::value)
    return ::fmod(a, b);
  else
    return each_lane_of<libm_fmod>(a, b);
}
template <class V, if_real<V> = 0> NNC_INLINE V mod(V a, V b) {
  V r = nnc::fmod(a, b);
  return select((r != V(0.0f)) & ((r < V(0.0f)) != (b < V(0.0f))), r + b, r);
}

//===----------------------------------------------------------------------===//
// Comparisons and logic
//===----------------------------------------------------------------------===//

template <class V> NNC_INLINE auto equal(V a, V b) { return a == b; }
template <class V> NNC_INLINE auto less(V a, V b) { return a < b; }
template <class V> NNC_INLINE auto less_equal(V a, V b) { return a <= b; }
template <class V> NNC_INLINE auto greater(V a, V b) { return a > b; }
template <class V> NNC_INLINE auto greater_equal(V a, V b) { return a >= b; }
template <class V, if_real<V> = 0> NNC_INLINE auto is_nan(V x) {
  return x != x;
}
template <class V, if_real<V> = 0> NNC_INLINE auto is_inf(V x) {
  return nnc::abs(x) == V(HUGE_VALF);
}
template <class M, if_mask<M> = 0> NNC_INLINE M logical_and(M a, M b) {
  return M(a & b);
}
template <class M, if_mask<M> = 0> NNC_INLINE M logical_or(M a, M b) {
  return M(a | b);
}
template <class M, if_mask<M> = 0> NNC_INLINE M logical_xor(M a, M b) {
  return M(a != b);
}
template <class M, if_mask<M> = 0> NNC_INLINE M logical_not(M a) { return !a; }

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

template <class V> NNC_INLINE V identity(V x) { return x; }

template <class V, if_real<V> = 0> NNC_INLINE V relu(V x) {
  return max_fast(V(0.0f), x);
}

/// x held in [low, high]; high if low > high.
template <class V, if_number<V> = 0> NNC_INLINE V clip(V x, V low, V high) {
  return min_fast(high, max_fast(low, x));
}

/// alpha x + beta held in [0, 1].
template <class V, if_real<V> = 0>
NNC_INLINE V hard_sigmoid(V x, V alpha, V beta) {
  return clip(x * alpha + beta, V(0.0f), V(1.0f));
}
/// x times hard_sigmoid(x, 1/6, 1/2).
template <class V, if_real<V> = 0> NNC_INLINE V hard_swish(V x) {
  return x * (clip(x + V(3.0f), V(0.0f), V(6.0f)) * constant<V>(1.0 / 6.0));
}

/// x / 2 (1 + erf(x / sqrt 2)), absolute error below 1e-6 for |x| < 16.
template <class V, if_real<V> = 0> NNC_INLINE V gelu(V x) {
  V half = x * V(0.5f);
  return half * erf(x * constant<V>(0.70710678118654752440)) + half;
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
/// x / (1 + |x|).
template <class V, if_real<V> = 0> NNC_INLINE V softsign(V x) {
  return x / (V(1.0f) + nnc::abs(x));
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
/// x, or alpha x below 0.
template <class V, if_real<V> = 0> NNC_INLINE V leaky_relu(V x, V alpha) {
  return select(x < V(0.0f), alpha * x, x);
}
template <class V, if_number<V> = 0> NNC_INLINE V prelu(V x, V slope) {
  return select(x < V(0), mul(slope, x), x);
}
/// x where x > alpha, else 0.
template <class V, if_real<V> = 0> NNC_INLINE V thresholded_relu(V x, V alpha) {
  return select(x > alpha, x, V(0.0f));
}

} // namespace nnc

#endif // NNC_SIMD_ELEMENTWISE_H
