//===- trig.h - Trigonometric and hyperbolic functions for every vector ---===//
//
// Templates as in math.h: the same arithmetic for float and f32x<W>, <math.h>
// for double. Largest error in ulp, checked by test/runtime/math.cpp:
//   sin 2.5, cos 2.5, tan 4, asin 2.5, acos 1.5, atan 1.5, sinh 2, cosh 1.5,
//   asinh 2.5, acosh 2.5, atanh 2.5
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_TRIG_H
#define NNC_SIMD_TRIG_H

#include "runtime/functions.h"
#include "runtime/simd/math.h"

namespace nnc {

/// sin and cos of x reduced to [-pi/4, pi/4], and the quadrant that x is in.
template <class V> struct circle_parts {
  V sin, cos;
  integer_of<V> quadrant;
};

/// Splits x for sin, cos and tan; for |x| <= 8192.
template <class V> NNC_INLINE circle_parts<V> split_circle(V x) {
  const V magic = V(0x1.8p23f);
  V t = fma(x, V(0x1.45f306p-1f), magic);
  V n = t - magic;
  // pi/2 in parts of 11 bits: n has 13, so each product is exact without FMA.
  V r = fma(n, V(-0x1.92p+0f), x);
  r = fma(n, V(-0x1.fb4p-12f), r);
  r = fma(n, V(-0x1.444p-24f), r);
  r = fma(n, V(-0x1.68cp-39f), r);
  r = fma(n, V(-0x1.1a6262p-54f), r);
  V z = r * r;
  V s = horner(z, -0x1.555556p-3f, 0x1.111176p-7f, -0x1.a05ba8p-13f,
               0x1.7ccf12p-19f);
  V c = horner(z, 0x1.555556p-5f, -0x1.6c175ep-10f, 0x1.a071b6p-16f,
               -0x1.36147cp-22f);
  s = fma(r * z, s, r);
  c = fma(z * z, c, fma(V(-0.5f), z, V(1.0f)));
  return {s, c, bit_cast_int(t)};
}

/// Replaces the lanes of y where |x| > limit by F::call(x), a function of the C
/// library: arguments so large need pi to hundreds of bits. Such arguments are
/// rare, so this may be slow.
template <class F, class V> NNC_INLINE V mend_large(V y, V x, float limit) {
  if (!any(vec_abs(x) > V(limit)))
    return y;
  float in[lanes<V>], out[lanes<V>];
  store(in, x);
  store(out, y);
  for (int i = 0; i < lanes<V>; ++i)
    if (!(in[i] >= -limit && in[i] <= limit))
      out[i] = F::call(in[i]);
  return load<V>(out);
}

struct libm_sin {
  NNC_FN static float call(float x) { return ::sinf(x); }
};
struct libm_cos {
  NNC_FN static float call(float x) { return ::cosf(x); }
};
struct libm_tan {
  NNC_FN static float call(float x) { return ::tanf(x); }
};

/// Sine.
template <class V, if_f32<V> = 0> NNC_INLINE V sin(V x) {
  using I = integer_of<V>;
  circle_parts<V> p = split_circle(x);
  V y = select((p.quadrant & I(1)) == I(0), p.sin, p.cos);
  I sign = shift_left<30>(p.quadrant & I(2));
  y = bit_cast_float(bit_cast_int(y) ^ sign);
  return mend_large<libm_sin>(select(x == V(0.0f), x, y), x, 8192.0f);
}

/// Cosine.
template <class V, if_f32<V> = 0> NNC_INLINE V cos(V x) {
  using I = integer_of<V>;
  circle_parts<V> p = split_circle(x);
  V y = select((p.quadrant & I(1)) == I(0), p.cos, p.sin);
  I sign = shift_left<30>(((p.quadrant & I(3)) + I(1)) & I(2));
  y = bit_cast_float(bit_cast_int(y) ^ sign);
  return mend_large<libm_cos>(y, x, 8192.0f);
}

/// Tangent.
template <class V, if_f32<V> = 0> NNC_INLINE V tan(V x) {
  using I = integer_of<V>;
  circle_parts<V> p = split_circle(x);
  auto even = (p.quadrant & I(1)) == I(0);
  V y = select(even, p.sin, -p.cos) / select(even, p.cos, p.sin);
  return mend_large<libm_tan>(select(x == V(0.0f), x, y), x, 8192.0f);
}

/// asin(a) for a in [0, 1/2]; z is a^2.
template <class V> NNC_INLINE V asin_small(V a, V z) {
  V p = horner(z, 0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bb8p-5f,
               0x1.8c3e50p-6f, 0x1.595c60p-5f);
  return fma(a * z, p, a);
}

/// Arc sine; NaN outside of [-1, 1].
template <class V, if_f32<V> = 0> NNC_INLINE V asin(V x) {
  V a = vec_abs(x);
  auto small = a <= V(0.5f);
  V z = select(small, a * a, (V(1.0f) - a) * V(0.5f));
  V s = asin_small(select(small, a, vec_sqrt(z)), z);
  // pi/2 in two parts.
  V y = select(small, s, V(0x1.921fb6p+0f) - (s + s + V(0x1.777a5cp-25f)));
  return copysign(y, x);
}

/// Arc cosine; NaN outside of [-1, 1].
template <class V, if_f32<V> = 0> NNC_INLINE V acos(V x) {
  V a = vec_abs(x);
  auto small = a <= V(0.5f);
  V z = select(small, a * a, (V(1.0f) - a) * V(0.5f));
  V s = asin_small(select(small, a, vec_sqrt(z)), z);
  V inner = V(0x1.921fb6p+0f) - (copysign(s, x) + V(0x1.777a5cp-25f));
  V twice = s + s;
  V outer = select(x < V(0.0f),
                   V(0x1.921fb6p+1f) - (twice + V(0x1.777a5cp-24f)), twice);
  return select(small, inner, outer);
}

/// Arc tangent.
template <class V, if_f32<V> = 0> NNC_INLINE V atan(V x) {
  V a = vec_abs(x);
  auto large = a > V(1.0f);
  V t = select(large, V(1.0f) / a, a);
  V z = t * t;
  V p = horner(z, -0x1.55553ep-2f, 0x1.9991e6p-3f, -0x1.2420b6p-3f,
               0x1.c08f64p-4f, -0x1.58155ep-4f, 0x1.da5ed4p-5f, -0x1.fdfc1cp-6f,
               0x1.64c1cep-7f, -0x1.d4984ap-10f);
  V s = fma(t * z, p, t);
  V y = select(large, V(0x1.921fb6p+0f) - (s + V(0x1.777a5cp-25f)), s);
  return copysign(y, x);
}

/// Hyperbolic sine.
template <class V, if_f32<V> = 0> NNC_INLINE V sinh(V x) {
  V a = vec_abs(x);
  V z = a * a;
  V near = horner(z, 0x1.555556p-3f, 0x1.1110e0p-7f, 0x1.a022bcp-13f,
                  0x1.756c1ep-19f);
  near = fma(a * z, near, a);
  V e = exp_scaled(a, -1.0f);
  V far = e - V(0.25f) / e;
  return copysign(select(a < V(1.0f), near, far), x);
}

/// Hyperbolic cosine.
template <class V, if_f32<V> = 0> NNC_INLINE V cosh(V x) {
  V e = exp_scaled(vec_abs(x), -1.0f);
  return e + V(0.25f) / e;
}

/// Inverse hyperbolic sine.
template <class V, if_f32<V> = 0> NNC_INLINE V asinh(V x) {
  V a = vec_abs(x);
  V z = a * a;
  V near = log1p(a + z / (V(1.0f) + vec_sqrt(z + V(1.0f))));
  V far = log(a) + V(0x1.62e430p-1f);
  return copysign(select(a < V(8192.0f), near, far), x);
}

/// Inverse hyperbolic cosine; NaN below 1.
template <class V, if_f32<V> = 0> NNC_INLINE V acosh(V x) {
  V t = x - V(1.0f);
  V near = log1p(t + vec_sqrt(fma(t, t, t + t)));
  V far = log(x) + V(0x1.62e430p-1f);
  return select(x < V(1.0f), V(NAN), select(x < V(8192.0f), near, far));
}

/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside.
template <class V, if_f32<V> = 0> NNC_INLINE V atanh(V x) {
  V a = vec_abs(x);
  V y = V(0.5f) * log1p((a + a) / (V(1.0f) - a));
  return copysign(select(a > V(1.0f), V(NAN), y), x);
}

#define NNC_LIBM(NAME)                                                         \
  template <class V, if_f64<V> = 0> NNC_INLINE V NAME(V x) { return ::NAME(x); }
NNC_LIBM(sin)
NNC_LIBM(cos)
NNC_LIBM(tan)
NNC_LIBM(asin)
NNC_LIBM(acos)
NNC_LIBM(atan)
NNC_LIBM(sinh)
NNC_LIBM(cosh)
NNC_LIBM(asinh)
NNC_LIBM(acosh)
NNC_LIBM(atanh)
#undef NNC_LIBM

} // namespace nnc

#endif // NNC_SIMD_TRIG_H
