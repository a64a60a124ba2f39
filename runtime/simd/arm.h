//===- arm.h - Common code of NEON and Helium vectors ---------------------===//
//
// Numbers in a register of 16 bytes, and the functions on them whose
// intrinsics have the same name in both instruction sets. vec_neon.h and
// vec_helium.h have the others, and masks.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_ARM_H
#define NNC_SIMD_ARM_H

#include "runtime/functions.h"
#include "runtime/simd/vec_portable.h"

#if defined(__ARM_NEON) && !defined(NNC_PORTABLE_SIMD)
#include <arm_neon.h>
#define NNC_ARM_VECTORS
#elif defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2) &&                 \
    !defined(NNC_PORTABLE_SIMD)
// The second bit is for arithmetic on floats.
#include <arm_mve.h>
#define NNC_ARM_VECTORS
#endif

#if defined(NNC_ARM_VECTORS)
namespace nnc {

template <> struct i32x<4> {
  int32x4_t v;
  i32x() = default;
  NNC_INLINE i32x(int32x4_t x) : v(x) {}
  explicit NNC_INLINE i32x(int32_t x) : v(vdupq_n_s32(x)) {}
};
template <> struct f32x<4> {
  float32x4_t v;
  f32x() = default;
  NNC_INLINE f32x(float32x4_t x) : v(x) {}
  explicit NNC_INLINE f32x(float x) : v(vdupq_n_f32(x)) {}
  static NNC_INLINE f32x splat(float x) { return f32x(x); }
  // vec_neon.h and vec_helium.h each define these functions.
  static f32x load(const float *p);
  static f32x load(const float *p, int count);
  static void look_up16(const float *table, const unsigned char *codes,
                        f32x &low, f32x &high);
  void store(float *p) const;
  void store(float *p, int count) const;
};

/// Applies a function to each pair of lanes of a and b, for operations without
/// an instruction.
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
#if !defined(__ARM_NEON) || defined(__aarch64__)
NNC_INLINE f32x<4> vec_floor(f32x<4> a) { return vrndmq_f32(a.v); }
NNC_INLINE f32x<4> vec_ceil(f32x<4> a) { return vrndpq_f32(a.v); }
NNC_INLINE f32x<4> vec_trunc(f32x<4> a) { return vrndq_f32(a.v); }
NNC_INLINE f32x<4> vec_round(f32x<4> a) { return vrndnq_f32(a.v); }
#endif

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

} // namespace nnc

#endif // NNC_ARM_VECTORS

#endif // NNC_SIMD_ARM_H
