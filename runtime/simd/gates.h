//===- gates.h - gelu and silu: x times a number in [0, 1] ----------------===//
//
// Functions as elementwise.h describes them. gelu and silu approach x for large
// x and 0 for very negative x. They are computed as max(0, x) minus a quotient
// whose divisor is a power of a polynomial. The polynomial is fitted for the
// smallest maximum error of the quotient, as in Abramowitz and Stegun's erf,
// 7.1.28; this takes half as long as an exponential and a division.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_GATES_H
#define NNC_SIMD_GATES_H

#include "runtime/simd/horner.h"
#include "runtime/simd/traits.h"
#include "runtime/simd/vec.h"

#include <math.h>

namespace nnc {

/// max(0, x), but NaN for -inf, because -inf times a factor of 0 is NaN.
template <class V> NNC_INLINE V positive_part(V x) {
  return fma(vec_abs(x), V(0.5f), x * V(0.5f));
}

/// x / 2 (1 + erf(x / sqrt 2)), absolute error below 1e-6 for |x| < 16.
template <class V, if_f32<V> = 0> NNC_INLINE V gelu(V x) {
  V size = min_fast(V(10.0f), vec_abs(x));
  // p^16 is 2 / erfc(size / sqrt 2).
  V p =
      horner(size, 0x1.0b5598p+0f, 0x1.aa8214p-5f, 0x1.6a4fa6p-6f,
             0x1.b9c79ap-9f, 0x1.3bec02p-14f, 0x1.4c9a68p-15f, 0x1.d4f4d8p-18f);
  V p2 = p * p, p4 = p2 * p2, p8 = p4 * p4;
  return positive_part(x) - size / (p8 * p8);
}
template <class V, if_f64<V> = 0> NNC_INLINE V gelu(V x) {
  return x * V(0.5) * ::erfc(x * V(-0.70710678118654752440));
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
  return x / (V(1.0) + ::exp(-x));
}
/// The tanh form of gelu: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))),
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
    return x / (V(1.0) + ::exp(-x * (x * x * cubic + linear)));
  }
}

} // namespace nnc

#endif // NNC_SIMD_GATES_H
