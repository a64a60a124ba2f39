//===- vec_neon.h - f32x<4> in a NEON register (armv7 with VFPv4, aarch64) ===//
#ifndef NNC_SIMD_VEC_NEON_H
#define NNC_SIMD_VEC_NEON_H

#include "runtime/functions.h"
#include "runtime/simd/arm.h"

#if defined(__ARM_NEON) && !defined(NNC_PORTABLE_SIMD)
/// Says that this header is included. A module emitted for any machine may lack
/// it.
#define NNC_NEON_VECTORS

namespace nnc {

template <> struct maskx<4> {
  uint32x4_t v;
};
template <> struct first_lanes_of<f32x<4>> {
  static NNC_INLINE maskx<4> make(int count) {
    const int32_t lane[4] = {0, 1, 2, 3};
    return {vcltq_s32(vld1q_s32(lane), vdupq_n_s32(count))};
  }
};
NNC_INLINE f32x<4> f32x<4>::load(const float *p) { return vld1q_f32(p); }
NNC_INLINE void f32x<4>::store(float *p) const { vst1q_f32(p, v); }
NNC_INLINE void f32x<4>::look_up16(const float *table,
                                   const unsigned char *codes, f32x &low,
                                   f32x &high) {
#if defined(__aarch64__)
  const auto *bytes = reinterpret_cast<const uint8_t *>(table);
  const uint8x16x4_t values = {{vld1q_u8(bytes), vld1q_u8(bytes + 16),
                                vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
  // Each code four times, which become the places of a float's four bytes.
  const uint8x16_t repeat = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  const uint8x16_t byte = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  uint32_t word;
  memcpy(&word, codes, sizeof word);
  const uint8x16_t both =
      vqtbl1q_u8(vreinterpretq_u8_u32(vdupq_n_u32(word)), repeat);
  const auto choose = [&](uint8x16_t place) {
    return vreinterpretq_f32_u8(vqtbl4q_u8(values, vorrq_u8(place, byte)));
  };
  low = choose(vshrq_n_u8(vshlq_n_u8(both, 4), 2));
  high = choose(vandq_u8(vshrq_n_u8(both, 2), vdupq_n_u8(0x3c)));
#else
  look_up16_by_lane(table, codes, low, high);
#endif
}
NNC_INLINE f32x<4> f32x<4>::load(const float *p, int count) {
  if (count >= 4)
    return vld1q_f32(p);
  float32x4_t r = vdupq_n_f32(0.0f);
  if (count > 0)
    r = vld1q_lane_f32(p, r, 0);
  if (count > 1)
    r = vld1q_lane_f32(p + 1, r, 1);
  if (count > 2)
    r = vld1q_lane_f32(p + 2, r, 2);
  return r;
}
NNC_INLINE void f32x<4>::store(float *p, int count) const {
  if (count >= 4)
    return vst1q_f32(p, v);
  if (count > 0)
    vst1q_lane_f32(p, v, 0);
  if (count > 1)
    vst1q_lane_f32(p + 1, v, 1);
  if (count > 2)
    vst1q_lane_f32(p + 2, v, 2);
}

NNC_INLINE f32x<4> fma(f32x<4> a, f32x<4> b, f32x<4> c) {
#if defined(__ARM_FEATURE_FMA)
  return vfmaq_f32(c.v, a.v, b.v);
#else
  return vaddq_f32(vmulq_f32(a.v, b.v), c.v);
#endif
}
NNC_INLINE f32x<4> max_fast(f32x<4> a, f32x<4> b) {
  return vmaxq_f32(a.v, b.v);
}
NNC_INLINE f32x<4> min_fast(f32x<4> a, f32x<4> b) {
  return vminq_f32(a.v, b.v);
}
#if defined(__aarch64__)
NNC_INLINE f32x<4> operator/(f32x<4> a, f32x<4> b) {
  return vdivq_f32(a.v, b.v);
}
template <> inline constexpr bool multiplies_by_lane<f32x<4>> = true;
NNC_INLINE f32x<4> fma_lane(f32x<4> a, int lane, f32x<4> b, f32x<4> c) {
  return fma(f32x<4>(a.v[lane]), b, c);
}
#if !defined(__clang__)
NNC_INLINE f32x<4> in_register(f32x<4> v) {
  asm("" : "+w"(v.v));
  return v;
}
#endif
NNC_INLINE f32x<4> vec_sqrt(f32x<4> a) { return vsqrtq_f32(a.v); }
#else
NNC_INLINE f32x<4> operator/(f32x<4> a, f32x<4> b) {
  return each_lane(a, b, [](float x, float y) { return x / y; });
}
NNC_INLINE f32x<4> vec_sqrt(f32x<4> a) {
  return each_lane(a, a, [](float x, float) { return vec_sqrt(x); });
}
NNC_INLINE f32x<4> vec_floor(f32x<4> a) {
  return each_lane(a, a, [](float x, float) { return vec_floor(x); });
}
NNC_INLINE f32x<4> vec_ceil(f32x<4> a) {
  return each_lane(a, a, [](float x, float) { return vec_ceil(x); });
}
NNC_INLINE f32x<4> vec_trunc(f32x<4> a) {
  return each_lane(a, a, [](float x, float) { return vec_trunc(x); });
}
NNC_INLINE f32x<4> vec_round(f32x<4> a) {
  return each_lane(a, a, [](float x, float) { return vec_round(x); });
}
#endif

#if defined(__aarch64__)
NNC_INLINE i32x<4> to_nearest_int(f32x<4> a) { return vcvtnq_s32_f32(a.v); }
#endif

NNC_INLINE maskx<4> operator<(f32x<4> a, f32x<4> b) {
  return {vcltq_f32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator<=(f32x<4> a, f32x<4> b) {
  return {vcleq_f32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator==(f32x<4> a, f32x<4> b) {
  return {vceqq_f32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator&(maskx<4> a, maskx<4> b) {
  return {vandq_u32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator|(maskx<4> a, maskx<4> b) {
  return {vorrq_u32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator!(maskx<4> a) { return {vmvnq_u32(a.v)}; }
NNC_INLINE bool any(maskx<4> a) {
  uint32x2_t s = vorr_u32(vget_low_u32(a.v), vget_high_u32(a.v));
  return (vget_lane_u32(s, 0) | vget_lane_u32(s, 1)) != 0;
}
// Needed beside the template of vec.h, because C++20 would otherwise prefer a
// rewritten operator==.
NNC_INLINE maskx<4> operator!=(f32x<4> a, f32x<4> b) { return !(a == b); }
NNC_INLINE f32x<4> select(maskx<4> m, f32x<4> a, f32x<4> b) {
  return vbslq_f32(m.v, a.v, b.v);
}
NNC_INLINE i32x<4> select(maskx<4> m, i32x<4> a, i32x<4> b) {
  return vbslq_s32(m.v, a.v, b.v);
}

NNC_INLINE maskx<4> operator==(i32x<4> a, i32x<4> b) {
  return {vceqq_s32(a.v, b.v)};
}
NNC_INLINE maskx<4> operator<(i32x<4> a, i32x<4> b) {
  return {vcltq_s32(a.v, b.v)};
}

NNC_INLINE f32x<4> zip_low(f32x<4> a, f32x<4> b) {
  return vzipq_f32(a.v, b.v).val[0];
}
NNC_INLINE f32x<4> zip_high(f32x<4> a, f32x<4> b) {
  return vzipq_f32(a.v, b.v).val[1];
}

NNC_INLINE float reduce_add(f32x<4> a) {
  float32x2_t s = vadd_f32(vget_low_f32(a.v), vget_high_f32(a.v));
  return vget_lane_f32(s, 0) + vget_lane_f32(s, 1);
}
NNC_INLINE float reduce_max(f32x<4> a) {
  float32x2_t s = vmax_f32(vget_low_f32(a.v), vget_high_f32(a.v));
  return vget_lane_f32(vpmax_f32(s, s), 0);
}
NNC_INLINE float reduce_min(f32x<4> a) {
  float32x2_t s = vmin_f32(vget_low_f32(a.v), vget_high_f32(a.v));
  return vget_lane_f32(vpmin_f32(s, s), 0);
}

} // namespace nnc

#endif // __ARM_NEON

#endif // NNC_SIMD_VEC_NEON_H
