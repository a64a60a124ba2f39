//===- vec_helium.h - f32x<4> in a vector of Arm's M profile (MVE) --------===//
//
// Vectors of floats take denormal numbers for zero, as NEON's of armv7 do.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_HELIUM_H
#define NNC_SIMD_VEC_HELIUM_H

#include "runtime/functions.h"
#include "runtime/simd/arm.h"

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) &&                   \
    !defined(NNC_PORTABLE_SIMD)
/// Says that this header is included; see vec_neon.h.
#define NNC_HELIUM_VECTORS

namespace nnc {

/// A mask has four equal bits for each lane.
template <> struct maskx<4> {
  mve_pred16_t v;
};
template <> struct first_lanes_of<f32x<4>> {
  static NNC_INLINE maskx<4> make(int count) {
    return {vctp32q(static_cast<uint32_t>(count < 0 ? 0 : count))};
  }
};

// Loads of words need aligned addresses; floats are aligned.
NNC_INLINE f32x<4> f32x<4>::load(const float *p) { return vldrwq_f32(p); }
NNC_INLINE void f32x<4>::store(float *p) const { vstrwq_f32(p, v); }
NNC_INLINE f32x<4> f32x<4>::load(const float *p, int count) {
  return vldrwq_z_f32(p, first_lanes_of<f32x<4>>::make(count).v);
}
NNC_INLINE void f32x<4>::store(float *p, int count) const {
  vstrwq_p_f32(p, v, first_lanes_of<f32x<4>>::make(count).v);
}
NNC_INLINE void f32x<4>::look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
  look_up16_by_lane(table, codes, low, high);
}

NNC_INLINE f32x<4> operator/(f32x<4> a, f32x<4> b) {
  return each_lane(a, b, [](float x, float y) { return x / y; });
}
NNC_INLINE f32x<4> fma(f32x<4> a, f32x<4> b, f32x<4> c) {
  return vfmaq_f32(c.v, a.v, b.v);
}
NNC_INLINE f32x<4> max_fast(f32x<4> a, f32x<4> b) {
  return vmaxnmq_f32(a.v, b.v);
}
NNC_INLINE f32x<4> min_fast(f32x<4> a, f32x<4> b) {
  return vminnmq_f32(a.v, b.v);
}
NNC_INLINE f32x<4> vec_sqrt(f32x<4> a) {
  return each_lane(a, a, [](float x, float) { return vec_sqrt(x); });
}

NNC_INLINE maskx<4> operator<(f32x<4> a, f32x<4> b) {
  return {vcmpltq_f32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator<=(f32x<4> a, f32x<4> b) {
  return {vcmpleq_f32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator==(f32x<4> a, f32x<4> b) {
  return {vcmpeqq_f32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator&(maskx<4> a, maskx<4> b) {
  return {static_cast<mve_pred16_t>(a.v & b.v)};
}
NNC_INLINE maskx<4> operator|(maskx<4> a, maskx<4> b) {
  return {static_cast<mve_pred16_t>(a.v | b.v)};
}
NNC_INLINE maskx<4> operator!(maskx<4> a) {
  return {static_cast<mve_pred16_t>(a.v ^ 0xffff)};
}
NNC_INLINE bool any(maskx<4> a) { return a.v != 0; }
// See vec_neon.h.
NNC_INLINE maskx<4> operator!=(f32x<4> a, f32x<4> b) { return !(a == b); }
NNC_INLINE f32x<4> select(maskx<4> m, f32x<4> a, f32x<4> b) {
  return vpselq_f32(a.v, b.v, m.v);
}
NNC_INLINE i32x<4> select(maskx<4> m, i32x<4> a, i32x<4> b) {
  return vpselq_s32(a.v, b.v, m.v);
}

NNC_INLINE maskx<4> operator==(i32x<4> a, i32x<4> b) {
  return {vcmpeqq_s32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator<(i32x<4> a, i32x<4> b) {
  return {vcmpltq_s32(a.v, b.v)};
}

/// The lanes a[First], b[First], a[First + 1], b[First + 1].
template <int First> NNC_INLINE f32x<4> zip_from(f32x<4> a, f32x<4> b) {
  float x[4], y[4];
  a.store(x);
  b.store(y);
  const float z[4] = {x[First], y[First], x[First + 1], y[First + 1]};
  return f32x<4>::load(z);
}
NNC_INLINE f32x<4> zip_low(f32x<4> a, f32x<4> b) { return zip_from<0>(a, b); }
NNC_INLINE f32x<4> zip_high(f32x<4> a, f32x<4> b) { return zip_from<2>(a, b); }

NNC_INLINE float reduce_add(f32x<4> a) {
  float x[4];
  a.store(x);
  return (x[0] + x[2]) + (x[1] + x[3]);
}
NNC_INLINE float reduce_max(f32x<4> a) {
  float x[4];
  a.store(x);
  return max_fast(max_fast(x[0], x[1]), max_fast(x[2], x[3]));
}
NNC_INLINE float reduce_min(f32x<4> a) {
  float x[4];
  a.store(x);
  return min_fast(min_fast(x[0], x[1]), min_fast(x[2], x[3]));
}

} // namespace nnc

#endif // __ARM_FEATURE_MVE

#endif // NNC_SIMD_VEC_HELIUM_H
