//===- arithmetic.h - Elementwise functions of few instructions -----------===//
//
// Functions as elementwise.h describes them. For other types than float,
// number.h has to be included before this header.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_ARITHMETIC_H
#define NNC_SIMD_ARITHMETIC_H

#include "runtime/functions.h"
#include "runtime/simd/traits.h"
#include "runtime/simd/vec.h"

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
/// Rounds to the nearest whole number, ties to even.
template <class V, if_f32<V> = 0> NNC_INLINE V round(V x) {
  return vec_round(x);
}
template <class V, if_f64<V> = 0> NNC_INLINE V floor(V x) { return ::floor(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V ceil(V x) { return ::ceil(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V round(V x) { return ::rint(x); }

/// Calls F::call for every lane, for functions that have no vector form.
template <class F> NNC_INLINE float each_lane_of(float a, float b) {
  return F::call(a, b);
}
template <class F, int W>
NNC_INLINE f32x<W> each_lane_of(f32x<W> a, f32x<W> b) {
  // g++ 12 warns of the sign of an int here.
  float x[static_cast<size_t>(W)], y[static_cast<size_t>(W)];
  a.store(x);
  b.store(y);
  for (int i = 0; i < W; ++i)
    x[i] = F::call(x[i], y[i]);
  return f32x<W>::load(x);
}
struct libm_fmod {
  NNC_FN static float call(float a, float b) { return ::fmodf(a, b); }
};

/// Exact remainders of a / b. The result of fmod has the sign of a, that of mod
/// the sign of b.
template <class V, if_real<V> = 0> NNC_INLINE V fmod(V a, V b) {
  if constexpr (is_same<V, double>::value)
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

/// x limited to [low, high]; high if low > high.
template <class V, if_number<V> = 0> NNC_INLINE V clip(V x, V low, V high) {
  return min_fast(high, max_fast(low, x));
}

/// alpha x + beta limited to [0, 1].
template <class V, if_real<V> = 0>
NNC_INLINE V hard_sigmoid(V x, V alpha, V beta) {
  return clip(x * alpha + beta, V(0.0f), V(1.0f));
}
/// x times hard_sigmoid(x, 1/6, 1/2).
template <class V, if_real<V> = 0> NNC_INLINE V hard_swish(V x) {
  return x * (clip(x + V(3.0f), V(0.0f), V(6.0f)) * constant<V>(1.0 / 6.0));
}

/// x / (1 + |x|).
template <class V, if_real<V> = 0> NNC_INLINE V softsign(V x) {
  return x / (V(1.0f) + nnc::abs(x));
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

#endif // NNC_SIMD_ARITHMETIC_H
