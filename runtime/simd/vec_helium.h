//===- vec_helium.h - f32x<4> in a vector of Arm's M profile (MVE) --------===//
//
// Vectors of floats take denormal numbers for zero, as NEON's of armv7 do.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_HELIUM_H
#define NNC_SIMD_VEC_HELIUM_H

#include "runtime/simd/vec_portable.h"

// The second bit is for arithmetic on floats.
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) &&                   \
    !defined(NNC_PORTABLE_SIMD)
#include <arm_mve.h>
/// Says that this header is included; see vec_neon.h.
#define NNC_HELIUM_VECTORS

namespace nnc {

/// A mask has four equal bits for each lane.
template <> struct maskx<4> {
  mve_pred16_t v;
};
template <> struct i32x<4> {
  int32x4_t v;
  i32x() = default;
  NNC_INLINE i32x(int32x4_t x) : v(x) {}
  explicit NNC_INLINE i32x(int32_t x) : v(vdupq_n_s32(x)) {}
};
template <> struct first_lanes_of<f32x<4>> {
  static NNC_INLINE maskx<4> make(int count) {
    return {vctp32q(static_cast<uint32_t>(count < 0 ? 0 : count))};
  }
};
template <> struct f32x<4> {
  float32x4_t v;
  f32x() = default;
  NNC_INLINE f32x(float32x4_t x) : v(x) {}
  explicit NNC_INLINE f32x(float x) : v(vdupq_n_f32(x)) {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  // Loads of words want aligned addresses, which floats have.
  static NNC_INLINE f32x load(const float *p) { return vldrwq_f32(p); }
  NNC_INLINE void store(float *p) const { vstrwq_f32(p, v); }
  static NNC_INLINE f32x load(const float *p, int count) {
    return vldrwq_z_f32(p, first_lanes_of<f32x>::make(count).v);
  }
  NNC_INLINE void store(float *p, int count) const {
    vstrwq_p_f32(p, v, first_lanes_of<f32x>::make(count).v);
  }
  static NNC_INLINE f32x load_int24(const unsigned char *p) {
    const int32_t words[4] = {word(p), word(p + 3), word(p + 6), word(p + 9)};
    return vcvtq_f32_s32(vldrwq_s32(words));
  }
  static NNC_INLINE void look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
    look_up16_by_lane(table, codes, low, high);
  }

private:
  static NNC_INLINE int32_t word(const unsigned char *p) {
    return static_cast<int32_t>(uint32_t(p[0]) << 8 | uint32_t(p[1]) << 16 |
                                uint32_t(p[2]) << 24);
  }
};

/// Makes each lane of a result by a function of lanes of a and b, where there
/// is no instruction.
template <class F> NNC_INLINE f32x<4> each_lane(f32x<4> a, f32x<4> b, F f) {
  float x[4], y[4];
  a.store(x);
  b.store(y);
  for (int i = 0; i < 4; ++i)
    x[i] = f(x[i], y[i]);
  return f32x<4>::load(x);
}

NNC_INLINE f32x<4> operator+(f32x<4> a, f32x<4> b) {
  return vaddq_f32(a.v, b.v);
}
NNC_INLINE f32x<4> operator-(f32x<4> a, f32x<4> b) {
  return vsubq_f32(a.v, b.v);
}
NNC_INLINE f32x<4> operator*(f32x<4> a, f32x<4> b) {
  return vmulq_f32(a.v, b.v);
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
NNC_INLINE f32x<4> vec_floor(f32x<4> a) { return vrndmq_f32(a.v); }
NNC_INLINE f32x<4> vec_ceil(f32x<4> a) { return vrndpq_f32(a.v); }
NNC_INLINE f32x<4> vec_trunc(f32x<4> a) { return vrndq_f32(a.v); }
NNC_INLINE f32x<4> vec_round(f32x<4> a) { return vrndnq_f32(a.v); }

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

NNC_INLINE i32x<4> bit_cast_int(f32x<4> a) {
  return vreinterpretq_s32_f32(a.v);
}
NNC_INLINE f32x<4> bit_cast_float(i32x<4> a) {
  return vreinterpretq_f32_s32(a.v);
}
NNC_INLINE i32x<4> to_int(f32x<4> a) { return vcvtq_s32_f32(a.v); }
NNC_INLINE f32x<4> to_float(i32x<4> a) { return vcvtq_f32_s32(a.v); }

NNC_INLINE i32x<4> operator+(i32x<4> a, i32x<4> b) {
  return vaddq_s32(a.v, b.v);
}
NNC_INLINE i32x<4> operator-(i32x<4> a, i32x<4> b) {
  return vsubq_s32(a.v, b.v);
}
NNC_INLINE i32x<4> operator&(i32x<4> a, i32x<4> b) {
  return vandq_s32(a.v, b.v);
}
NNC_INLINE i32x<4> operator|(i32x<4> a, i32x<4> b) {
  return vorrq_s32(a.v, b.v);
}
NNC_INLINE i32x<4> operator^(i32x<4> a, i32x<4> b) {
  return veorq_s32(a.v, b.v);
}
template <int N> NNC_INLINE i32x<4> shift_left(i32x<4> a) {
  return vshlq_n_s32(a.v, N);
}
template <int N> NNC_INLINE i32x<4> shift_right(i32x<4> a) {
  return vshrq_n_s32(a.v, N);
}
template <int N> NNC_INLINE i32x<4> shift_right_logical(i32x<4> a) {
  return vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(a.v), N));
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
