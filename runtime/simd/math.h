//===- math.h - exp, log, tanh, erf and their kin for vectors -------------===//
//
// Templates over V: float and f32x<W> go through the same arithmetic, so a
// scalar tail equals the vector lanes bit for bit; double goes to <math.h>.
// NaN gives NaN; results below the normal range are rounded correctly, not
// flushed to zero.
//
// Largest error in ulp, with and without FMA; test/runtime/math.cpp checks the
// whole range, and its table is authoritative:
//   exp 1, expm1 2, log 1, log1p 1.5, sqrt 0.5, rsqrt 1.5, reciprocal 0.5,
//   tanh 3, sigmoid 2.5, erf 1.5
// Trigonometric and hyperbolic functions are in trig.h, pow in pow.h.
//
// Method: split the argument so that a short polynomial serves (Cody and Waite,
// "Software Manual for the Elementary Functions"). The polynomials are minimax
// fits made for these intervals, with coefficients rounded to float one after
// the other.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_MATH_H
#define NNC_SIMD_MATH_H

#include "runtime/functions.h"
#include "runtime/simd/horner.h"
#include "runtime/simd/traits.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// p * 2^n for a whole number n in [-252, 254], rounded once.
template <class V> NNC_INLINE V scale_exponent(V p, V n) {
  // 2^n may lie outside of the range of float where the product does not.
  V shift = V(0x1.8p23f + 127.0f);
  V half = vec_floor(n * V(0.5f));
  V a = bit_cast_float(shift_left<23>(bit_cast_int(half + shift)));
  V b = bit_cast_float(shift_left<23>(bit_cast_int((n - half) + shift)));
  return p * a * b;
}

/// x as n ln2 + r with |r| <= ln2 / 2: holds n and e^r - 1.
template <class V> struct exp_parts {
  V n, expm1_r;
};
template <class V> NNC_INLINE exp_parts<V> split_exp(V x) {
  const V magic = V(0x1.8p23f);
  V n = fma(x, V(0x1.715476p+0f), magic) - magic;
  // ln2 in two parts, the first so short that n times it is exact.
  V r = fma(n, V(-0x1.63p-1f), x);
  r = fma(n, V(0x1.bd0106p-13f), r);
  V q = horner(r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558bcp-5f,
               0x1.1239c6p-7f, 0x1.6a4154p-10f);
  return {n, fma(r * r, q, r)};
}

/// e^x 2^k for |k| <= 2.
template <class V> NNC_INLINE V exp_scaled(V x, float k) {
  V bounded = min_fast(V(90.0f), max_fast(V(-106.0f), x));
  exp_parts<V> s = split_exp(bounded);
  return scale_exponent(s.expm1_r + V(1.0f), s.n + V(k));
}

/// e^x.
template <class V, if_f32<V> = 0> NNC_INLINE V exp(V x) {
  return exp_scaled(x, 0.0f);
}

/// e^x, but 0 for x < -87, near the end of the normal range: instructions with
/// subnormal results take Intel's cores a hundred times as long. For weights of
/// a sum whose largest is 1.
template <class V, if_f32<V> = 0> NNC_INLINE V exp_or_zero(V x) {
  const V least = V(-87.0f);
  return select(x < least, V(0.0f), exp(max_fast(least, x)));
}

/// e^x - 1, accurate near 0.
template <class V, if_f32<V> = 0> NNC_INLINE V expm1(V x) {
  V bounded = min_fast(V(89.0f), max_fast(V(-30.0f), x));
  exp_parts<V> s = split_exp(bounded);
  // (2^n (1 + p) - 1) / 2: 2^128 is no float, 2^127 is.
  V power = scale_exponent(V(1.0f), s.n - V(1.0f));
  V rest = fma(power, s.expm1_r, power - V(0.5f));
  V y = select(s.n == V(0.0f), s.expm1_r, rest + rest);
  return select(x == V(0.0f), x, y);
}

/// The logarithm of |x| for a finite x that is not 0.
template <class V> NNC_INLINE V log_positive(V x) {
  using I = integer_of<V>;
  x = vec_abs(x); // also keeps the integers below from overflowing
  auto tiny = x < V(0x1p-126f);
  x = select(tiny, x * V(0x1p23f), x);
  // x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
  const I sqrt_half = I(0x3f3504f3);
  I bits = bit_cast_int(x) - sqrt_half;
  V e = to_float(shift_right<23>(bits));
  e = e - select(tiny, V(23.0f), V(0.0f));
  V f = bit_cast_float((bits & I(0x007fffff)) + sqrt_half) - V(1.0f);
  V p = horner(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a476p-3f,
               -0x1.555c46p-3f, 0x1.233ba8p-3f, -0x1.fc2886p-4f, 0x1.e6bf3ap-4f,
               -0x1.de02bep-4f, 0x1.147610p-4f);
  V z = f * f;
  V y = fma(e, V(-0x1.bd0106p-13f), f * z * p);
  y = fma(V(-0.5f), z, y);
  return fma(e, V(0x1.63p-1f), f + y);
}

/// Natural logarithm: -inf at 0, NaN below.
template <class V, if_f32<V> = 0> NNC_INLINE V log(V x) {
  const V infinity = V(HUGE_VALF);
  V edge = select(x == V(0.0f), -infinity,
                  select(x < V(0.0f), V(NAN), x)); // +inf and NaN stay
  return select((x > V(0.0f)) & (x < infinity), log_positive(x), edge);
}

/// log(1 + x), accurate near 0.
template <class V, if_f32<V> = 0> NNC_INLINE V log1p(V x) {
  V u = x + V(1.0f);
  // The rounding error of u, to first order.
  V lost = (x - (u - V(1.0f))) / u;
  V y = log_positive(u) + lost;
  y = select((u > V(0.0f)) & (u < V(HUGE_VALF)), y, log(u));
  return select(x == V(0.0f), x, y);
}

/// Square root, 1 / sqrt(x) and 1 / x.
template <class V, if_f32<V> = 0> NNC_INLINE V sqrt(V x) { return vec_sqrt(x); }
template <class V, if_f32<V> = 0> NNC_INLINE V rsqrt(V x) {
  return V(1.0f) / vec_sqrt(x);
}
template <class V, if_f32<V> = 0> NNC_INLINE V reciprocal(V x) {
  return V(1.0f) / x;
}

/// Hyperbolic tangent.
template <class V, if_f32<V> = 0> NNC_INLINE V tanh(V x) {
  V a = min_fast(V(10.0f), vec_abs(x));
  V t = expm1(a + a);
  return copysign(t / (t + V(2.0f)), x);
}

/// 1 / (1 + e^-x).
template <class V, if_f32<V> = 0> NNC_INLINE V sigmoid(V x) {
  V e = exp(-vec_abs(x));
  return select(x < V(0.0f), e, V(1.0f)) / (V(1.0f) + e);
}

/// Error function: an odd polynomial near 0, 1 - e^polynomial further out (the
/// split is N. Juffa's).
template <class V, if_f32<V> = 0> NNC_INLINE V erf(V x) {
  V t = min_fast(V(4.0f), vec_abs(x));
  V z = t * t;
  V near = horner(z, 0x1.06eba8p-3f, -0x1.812740p-2f, 0x1.ce2d64p-4f,
                  -0x1.b80120p-6f, 0x1.544aa8p-8f, -0x1.a6126ep-11f,
                  0x1.4f8e58p-14f);
  near = fma(t, near, t);
  V far =
      horner(t, -0x1.b4e03cp-13f, -0x1.20abf0p+0f, -0x1.464834p-1f,
             -0x1.a96418p-4f, 0x1.6b90c0p-6f, -0x1.8dae9ap-9f, 0x1.98f7b6p-13f);
  far = V(1.0f) - exp(far);
  return copysign(select(t < V(0.9375f), near, far), x);
}

template <class V, if_f64<V> = 0> NNC_INLINE V exp(V x) { return ::exp(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V expm1(V x) { return ::expm1(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V log(V x) { return ::log(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V log1p(V x) { return ::log1p(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V sqrt(V x) { return ::sqrt(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V rsqrt(V x) {
  return 1.0 / ::sqrt(x);
}
template <class V, if_f64<V> = 0> NNC_INLINE V reciprocal(V x) {
  return 1.0 / x;
}
template <class V, if_f64<V> = 0> NNC_INLINE V tanh(V x) { return ::tanh(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V erf(V x) { return ::erf(x); }
template <class V, if_f64<V> = 0> NNC_INLINE V sigmoid(V x) {
  double e = ::exp(-::fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

} // namespace nnc

#endif // NNC_SIMD_MATH_H
