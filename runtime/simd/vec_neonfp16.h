//===- vec_neonfp16.h - f16x<8> in a NEON register (aarch64, FEAT_FP16) ---===//
//
// f16x<8> is a vector of halves that computes with halves. It is for register
// tiles; all arithmetic after a tile's sums is on f32x<8>. On other machines it
// computes with floats, so that routines can be built and tested there.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_VEC_NEONFP16_H
#define NNC_SIMD_VEC_NEONFP16_H

#include "runtime/functions.h"
#include "runtime/simd/half.h"
#include "runtime/simd/vec_neon.h"

namespace nnc {

#if defined(__aarch64__) && defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC) &&   \
    !defined(NNC_PORTABLE_SIMD)
template <> struct f16x<8> {
  float16x8_t v;
  f16x() = default;
  NNC_INLINE f16x(float16x8_t x) : v(x) {}
  explicit NNC_INLINE f16x(const f16 &x) : v(vld1q_dup_f16(&x.value)) {}
  explicit NNC_INLINE f16x(f32x<8> x)
      : v(vcvt_high_f16_f32(vcvt_f16_f32(x.lo.v), x.hi.v)) {}
  static NNC_INLINE f16x load(const f16 *p) { return vld1q_f16(&p->value); }
  static NNC_INLINE f16x load(const f16 *p, int count) {
    f16 first[8];
    for (int i = 0; i < 8; ++i)
      first[i] = i < count ? p[i] : f16(0.0f);
    return load(first);
  }
  NNC_INLINE void store(f16 *p) const { vst1q_f16(&p->value, v); }
};
NNC_INLINE f16x<8> fma(f16x<8> a, f16x<8> b, f16x<8> c) {
  return vfmaq_f16(c.v, a.v, b.v);
}
NNC_INLINE f16x<8> operator+(f16x<8> a, f16x<8> b) {
  return vaddq_f16(a.v, b.v);
}
NNC_INLINE f16x<8> &operator+=(f16x<8> &a, f16x<8> b) { return a = a + b; }
NNC_INLINE f32x<8> widen(f16x<8> x) {
  return {vcvt_f32_f16(vget_low_f16(x.v)), vcvt_high_f32_f16(x.v)};
}

template <> inline constexpr bool multiplies_by_lane<f16x<8>> = true;
#if defined(__clang__)
NNC_INLINE f16x<8> fma_lane(f16x<8> a, int lane, f16x<8> b, f16x<8> c) {
  return fma(f16x<8>(vdupq_n_f16(a.v[lane])), b, c);
}
#else
/// Multiply-add by a lane as inline assembly, because g++ 12 does not select
/// the instruction, which takes lanes of registers 0 to 15 only.
NNC_INLINE f16x<8> fma_lane(f16x<8> a, int lane, f16x<8> b, f16x<8> c) {
#define NNC_FMA_LANE(LANE)                                                     \
  case LANE:                                                                   \
    asm("fmla %0.8h, %1.8h, %2.h[" #LANE "]"                                   \
        : "+w"(c.v)                                                            \
        : "w"(b.v), "x"(a.v));                                                 \
    break;
  switch (lane) {
    NNC_FMA_LANE(0)
    NNC_FMA_LANE(1)
    NNC_FMA_LANE(2)
    NNC_FMA_LANE(3)
    NNC_FMA_LANE(4)
    NNC_FMA_LANE(5)
    NNC_FMA_LANE(6)
    NNC_FMA_LANE(7)
  }
#undef NNC_FMA_LANE
  return c;
}
NNC_INLINE f16x<8> in_register(f16x<8> v) {
  asm("" : "+w"(v.v));
  return v;
}
#endif
#else
template <int W> struct f16x {
  f32x<W> v;
  f16x() = default;
  explicit NNC_INLINE f16x(f16 x) : v(x) {}
  explicit NNC_INLINE f16x(f32x<W> x) : v(x) {}
  static NNC_INLINE f16x load(const f16 *p) { return f16x(halves<W>::load(p)); }
  static NNC_INLINE f16x load(const f16 *p, int count) {
    return f16x(nnc::load<f32x<W>>(p, count));
  }
  NNC_INLINE void store(f16 *p) const { halves<W>::store(p, v); }
};
template <int W> NNC_INLINE f16x<W> fma(f16x<W> a, f16x<W> b, f16x<W> c) {
  return f16x<W>(fma(a.v, b.v, c.v));
}
template <int W> NNC_INLINE f16x<W> operator+(f16x<W> a, f16x<W> b) {
  return f16x<W>(a.v + b.v);
}
template <int W> NNC_INLINE f16x<W> &operator+=(f16x<W> &a, f16x<W> b) {
  return a = a + b;
}
template <int W> NNC_INLINE f32x<W> widen(f16x<W> x) { return x.v; }
#endif

template <int W> constexpr int lanes<f16x<W>> = W;
template <int W> struct element<f16x<W>> {
  using type = f16;
};

} // namespace nnc

#endif // NNC_SIMD_VEC_NEONFP16_H
