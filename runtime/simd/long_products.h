//===- long_products.h - Products of 16-bit numbers added in 32 bits ------===//
//
// smlal and smlal2 of AArch64: the lower or the upper four numbers of a vector
// of eight are multiplied by those of another one and added to four sums.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_LONG_PRODUCTS_H
#define NNC_SIMD_LONG_PRODUCTS_H

#include "runtime/functions.h"
#include "runtime/simd/bytes.h"

namespace nnc {

struct long_products {
#if defined(NNC_NEON_VECTORS) && defined(__aarch64__)
  using pair = int16x8_t; ///< two times four numbers

  static NNC_INLINE pair load(const int16_t *p) { return vld1q_s16(p); }
  static NNC_INLINE void store(int16_t *p, pair v) { vst1q_s16(p, v); }
  /// Loads four bytes into both halves.
  template <class X> static NNC_INLINE pair load_one(const X *p) {
    const int16x4_t four = vmovn_s32(byte_lanes<4>::load(p).v);
    return vcombine_s16(four, four);
  }
  /// Loads 16 bytes.
  static NNC_INLINE void load_two(const int8_t *p, pair &a, pair &b) {
    const int8x16_t bytes = vld1q_s8(p);
    a = vmovl_s8(vget_low_s8(bytes));
    b = vmovl_high_s8(bytes);
  }
  static NNC_INLINE void load_two(const uint8_t *p, pair &a, pair &b) {
    const uint8x16_t bytes = vld1q_u8(p);
    a = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes)));
    b = vreinterpretq_s16_u16(vmovl_high_u8(bytes));
  }
  static NNC_INLINE i32x<4> add_low(i32x<4> sum, pair a, pair b) {
    return {vmlal_s16(sum.v, vget_low_s16(a), vget_low_s16(b))};
  }
  static NNC_INLINE i32x<4> add_high(i32x<4> sum, pair a, pair b) {
    return {vmlal_high_s16(sum.v, a, b)};
  }
#else
  struct pair {
    int16_t at[8];
  };

  static NNC_INLINE pair load(const int16_t *p) {
    pair v;
    memcpy(v.at, p, sizeof v.at);
    return v;
  }
  static NNC_INLINE void store(int16_t *p, const pair &v) {
    memcpy(p, v.at, sizeof v.at);
  }
  template <class X> static NNC_INLINE pair load_one(const X *p) {
    return {{p[0], p[1], p[2], p[3], p[0], p[1], p[2], p[3]}};
  }
  template <class X>
  static NNC_INLINE void load_two(const X *p, pair &a, pair &b) {
    for (int i = 0; i < 8; ++i) {
      a.at[i] = p[i];
      b.at[i] = p[i + 8];
    }
  }
  static NNC_INLINE i32x<4> add_low(i32x<4> sum, pair a, pair b) {
    return add_from(0, sum, a, b);
  }
  static NNC_INLINE i32x<4> add_high(i32x<4> sum, pair a, pair b) {
    return add_from(4, sum, a, b);
  }

private:
  static NNC_INLINE i32x<4> add_from(int first, i32x<4> sum, const pair &a,
                                     const pair &b) {
    int32_t all[4];
    byte_lanes<4>::store_bits(all, sum);
    for (int i = 0; i < 4; ++i)
      all[i] += a.at[first + i] * b.at[first + i];
    return byte_lanes<4>::load_bits(all);
  }
#endif
};

} // namespace nnc

#endif // NNC_SIMD_LONG_PRODUCTS_H
