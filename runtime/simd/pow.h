//===- pow.h - x to the power of y for every vector -----------------------===//
//
// Templates as in math.h. Largest error 3.5 ulp, checked by
// test/runtime/math.cpp. The logarithm is carried in two floats, because y
// multiplies its error.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_POW_H
#define NNC_SIMD_POW_H

#include "runtime/functions.h"
#include "runtime/simd/math.h"

namespace nnc {

/// The unevaluated sum of two floats, the second below half an ulp of the
/// first.
template <class V> struct two_floats {
  V high, low;
};

/// a + b as an exact sum of two floats: for |a| >= |b| (Dekker), and for any
/// two (Knuth).
template <class V> NNC_INLINE two_floats<V> add_ordered(V a, V b) {
  V s = a + b;
  return {s, b - (s - a)};
}
template <class V> NNC_INLINE two_floats<V> add_exactly(V a, V b) {
  V s = a + b;
  V t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// a * b as an exact sum of two floats.
template <class V> NNC_INLINE two_floats<V> multiply_exactly(V a, V b) {
  V p = a * b;
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return {p, fma(a, b, -p)};
#else
  // Veltkamp's split: halves of 12 bits, whose products are exact.
  const V split = V(4097.0f);
  V ca = split * a, cb = split * b;
  V ah = ca - (ca - a), bh = cb - (cb - b);
  V al = a - ah, bl = b - bh;
  return {p, al * bl - (((p - ah * bh) - al * bh) - ah * bl)};
#endif
}

/// The base-2 logarithm of a positive, finite x, with an error of about 2^-33.
template <class V> NNC_INLINE two_floats<V> log2_positive(V x) {
  using I = integer_of<V>;
  auto tiny = x < V(0x1p-126f);
  x = select(tiny, x * V(0x1p23f), x);
  const I sqrt_half = I(0x3f3504f3);
  I bits = bit_cast_int(x) - sqrt_half;
  V e = to_float(shift_right<23>(bits));
  e = e - select(tiny, V(23.0f), V(0.0f));
  V m = bit_cast_float((bits & I(0x007fffff)) + sqrt_half);
  // log2 m = 2 / ln2 atanh s, s = (m - 1) / (m + 1) in two floats.
  V num = m - V(1.0f);
  two_floats<V> den = add_exactly(m, V(1.0f));
  V s = num / den.high;
  two_floats<V> back = multiply_exactly(s, den.high);
  V rest = ((num - back.high) - back.low) - s * den.low;
  V s_low = rest / den.high;
  V z = s * s;
  V tail =
      horner(z, 0x1.ec709ep-1f, 0x1.2776e2p-1f, 0x1.a5cecep-2f, 0x1.58b168p-2f);
  const V c = V(0x1.715476p+1f), c_low = V(0x1.4ae0cp-25f);
  two_floats<V> first = multiply_exactly(s, c);
  V low = fma(s, c_low, fma(s_low, c, first.low));
  // s^3 tail is at most 2^-6 of the sum, so one float suffices for it; it is
  // added without loss.
  two_floats<V> sum = add_exactly(first.high, s * z * tail);
  two_floats<V> whole = add_exactly(e, sum.high);
  return add_ordered(whole.high, whole.low + (sum.low + low));
}

/// x^y as C defines it: pow(x, 0) = pow(1, y) = 1 even for NaN; NaN for a
/// finite negative x and a y that is not whole.
template <class V, if_f32<V> = 0> NNC_INLINE V pow(V x, V y) {
  const V zero = V(0.0f), one = V(1.0f), infinity = V(HUGE_VALF);
  V a = vec_abs(x);
  two_floats<V> l = log2_positive(a);
  // Beyond 2^40 only the sign of y log2 x matters, and products stay finite.
  V bounded = min_fast(V(0x1p40f), max_fast(V(-0x1p40f), y));
  two_floats<V> p = multiply_exactly(l.high, bounded);
  V low = fma(l.low, bounded, p.low);
  V high = min_fast(V(200.0f), max_fast(V(-200.0f), p.high));
  low = select(high == p.high, low, zero);
  V n = vec_round(high);
  V f = (high - n) + low;
  V e = fma(f,
            horner(f, 0x1.62e430p-1f, 0x1.ebfbe0p-3f, 0x1.c6b070p-5f,
                   0x1.3b2a5cp-7f, 0x1.5da2c4p-10f, 0x1.440efap-13f,
                   0x1.e443e8p-17f),
            one);
  V r = scale_exponent(e, n);

  auto a_is_edge = (a == zero) | (a == infinity);
  V edge = select(y > zero, a, one / a);
  r = select(a_is_edge, edge, r);
  auto y_infinite = vec_abs(y) == infinity;
  r = select(y_infinite & (a == one), one, r);

  auto whole = vec_trunc(y) == y;
  V half = y * V(0.5f);
  auto odd = whole & (vec_trunc(half) != half);
  auto negative = bit_cast_int(x) < integer_of<V>(0);
  r = select(negative & odd, -r, r);
  r = select((x < zero) & !whole & (a != infinity), V(NAN), r);
  r = select((x != x) | (y != y), x + y, r);
  return select((x == one) | (y == zero), one, r);
}

template <class V, if_f64<V> = 0> NNC_INLINE V pow(V x, V y) {
  return ::pow(x, y);
}

} // namespace nnc

#endif // NNC_SIMD_POW_H
