//===- bytes_neon.h - Vectors of bytes in NEON registers ------------------===//
#ifndef NNC_SIMD_BYTES_NEON_H
#define NNC_SIMD_BYTES_NEON_H

#include "runtime/functions.h"
#include "runtime/simd/bytes_portable.h"
#include "runtime/simd/vec_neon.h"

#if defined(NNC_NEON_VECTORS)
namespace nnc {

template <> struct byte_lanes<4> {
  using V = i32x<4>;
  static constexpr bool conversion_saturates = true;
  static NNC_INLINE V load(const uint8_t *p) {
    const uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(load_word(p)));
    return {vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))))};
  }
  static NNC_INLINE V load(const int8_t *p) {
    const int8x8_t bytes = vreinterpret_s8_u32(vdup_n_u32(load_word(p)));
    return {vmovl_s16(vget_low_s16(vmovl_s8(bytes)))};
  }
  static NNC_INLINE V load_pairs(const int8_t *p) {
    return {vreinterpretq_s32_s16(vmovl_s8(vld1_s8(p)))};
  }
  static NNC_INLINE V load_pairs(const uint8_t *p) {
    return {vreinterpretq_s32_u16(vmovl_u8(vld1_u8(p)))};
  }
  static NNC_INLINE V load_pairs(const int16_t *p) { return load_bits(p); }
  static NNC_INLINE V load_two(const int8_t *p, const int8_t *q) {
    return {vreinterpretq_s32_s16(vmovl_s8(vreinterpret_s8_u8(zip(p, q))))};
  }
  static NNC_INLINE V load_two(const uint8_t *p, const uint8_t *q) {
    return {vreinterpretq_s32_u16(vmovl_u8(zip(p, q)))};
  }
  static NNC_INLINE V load_bits(const void *p) {
    return {vreinterpretq_s32_u8(vld1q_u8(static_cast<const uint8_t *>(p)))};
  }
  static NNC_INLINE void store_bits(void *p, V v) {
    vst1q_u8(static_cast<uint8_t *>(p), vreinterpretq_u8_s32(v.v));
  }
  static NNC_INLINE void store(void *p, V v) {
    const int16x4_t words = vmovn_s32(v.v);
    const int8x8_t bytes = vmovn_s16(vcombine_s16(words, words));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_s8(bytes), 0);
    memcpy(p, &four, sizeof four);
  }
  template <class T>
  static NNC_INLINE void store_four(T *p, V a, V b, V c, V d) {
#if defined(__aarch64__)
    // Takes every second number of two vectors: three instructions, not six.
    const int16x8_t low =
        vuzp1q_s16(vreinterpretq_s16_s32(a.v), vreinterpretq_s16_s32(b.v));
    const int16x8_t high =
        vuzp1q_s16(vreinterpretq_s16_s32(c.v), vreinterpretq_s16_s32(d.v));
    store_bits(p, {vreinterpretq_s32_s8(vuzp1q_s8(
                      vreinterpretq_s8_s16(low), vreinterpretq_s8_s16(high)))});
#else
    const int8x8_t low =
        vmovn_s16(vcombine_s16(vmovn_s32(a.v), vmovn_s32(b.v)));
    const int8x8_t high =
        vmovn_s16(vcombine_s16(vmovn_s32(c.v), vmovn_s32(d.v)));
    store_bits(p, {vreinterpretq_s32_s8(vcombine_s8(low, high))});
#endif
  }
  /// Moves indices to general registers and loads bytes into lanes: narrow
  /// stores that a wide load follows would stall.
  template <class T> static NNC_INLINE V look_up(const T *table, V at) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(table);
    const uint32x4_t index = vreinterpretq_u32_s32(at.v);
    uint8x16_t lanes = vdupq_n_u8(0);
    lanes = vld1q_lane_u8(bytes + vgetq_lane_u32(index, 0), lanes, 0);
    lanes = vld1q_lane_u8(bytes + vgetq_lane_u32(index, 1), lanes, 4);
    lanes = vld1q_lane_u8(bytes + vgetq_lane_u32(index, 2), lanes, 8);
    lanes = vld1q_lane_u8(bytes + vgetq_lane_u32(index, 3), lanes, 12);
    return {vreinterpretq_s32_u8(lanes)};
  }
  static NNC_INLINE V rescale_double(V x, V multiplier, V shift) {
    const int32x4_t zero = vdupq_n_s32(0);
    const int32x4_t right = vminq_s32(shift.v, zero);
    const int32x4_t high =
        vqrdmulhq_s32(vshlq_s32(x.v, vmaxq_s32(shift.v, zero)), multiplier.v);
    // A rounding shift rounds halves up, so that 1 is subtracted from negative
    // numbers first.
    const int32x4_t nudge = vshrq_n_s32(vandq_s32(high, right), 31);
    return {vrshlq_s32(vaddq_s32(high, nudge), right)};
  }
  static NNC_INLINE V rescale_single(V x, V multiplier, V shift) {
    const int32x4_t left = vsubq_s32(shift.v, vdupq_n_s32(31));
    const auto part = [](int32x2_t a, int32x2_t b, int32x2_t by) {
      return vmovn_s64(vrshlq_s64(vmull_s32(a, b), vmovl_s32(by)));
    };
    return {vcombine_s32(
        part(vget_low_s32(x.v), vget_low_s32(multiplier.v), vget_low_s32(left)),
        part(vget_high_s32(x.v), vget_high_s32(multiplier.v),
             vget_high_s32(left)))};
  }
  static NNC_INLINE V multiply(V a, V b) { return {vmulq_s32(a.v, b.v)}; }
  static NNC_INLINE V most(V a, V b) { return {vmaxq_s32(a.v, b.v)}; }
  static NNC_INLINE V least(V a, V b) { return {vminq_s32(a.v, b.v)}; }
  static NNC_INLINE V dot2(V sum, V a, V b) {
    const int16x8_t x = vreinterpretq_s16_s32(a.v);
    const int16x8_t y = vreinterpretq_s16_s32(b.v);
    const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y));
    const int32x4_t high = vmull_s16(vget_high_s16(x), vget_high_s16(y));
    return {vaddq_s32(sum.v, add_pairs(low, high))};
  }
  static NNC_INLINE V dot4(V sum, V a, V b) {
    const int16x8_t x = vreinterpretq_s16_s32(a.v);
    const int16x8_t y = vreinterpretq_s16_s32(b.v);
    const V even =
        dot2(sum, {vandq_s32(a.v, vdupq_n_s32(0x00ff00ff))},
             {vreinterpretq_s32_s16(vshrq_n_s16(vshlq_n_s16(y, 8), 8))});
    return dot2(
        even, {vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s16(x), 8))},
        {vreinterpretq_s32_s16(vshrq_n_s16(y, 8))});
  }

private:
  static NNC_INLINE uint8x8_t zip(const void *p, const void *q) {
    return vzip_u8(vreinterpret_u8_u32(vdup_n_u32(load_word(p))),
                   vreinterpret_u8_u32(vdup_n_u32(load_word(q))))
        .val[0];
  }
  static NNC_INLINE uint32_t load_word(const void *p) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
  }
  static NNC_INLINE int32x4_t add_pairs(int32x4_t a, int32x4_t b) {
#if defined(__aarch64__)
    return vpaddq_s32(a, b);
#else
    return vcombine_s32(vpadd_s32(vget_low_s32(a), vget_high_s32(a)),
                        vpadd_s32(vget_low_s32(b), vget_high_s32(b)));
#endif
  }
};

#if defined(__aarch64__)

//===----------------------------------------------------------------------===//
// 16 bytes in a register, narrow<T, 16> of bytes.h: what rounds and limits the
// numbers of four points ends in instructions that narrow and saturate (sqxtn),
// and tables are looked up 16 bytes at a time (tbl).
//===----------------------------------------------------------------------===//

template <> inline constexpr bool is_byte_register<int8_t, 16> = true;
template <> inline constexpr bool is_byte_register<uint8_t, 16> = true;

/// Sixteen bytes of type T. Signedness matters where they are widened or
/// limited.
template <class T> struct byte_register {
  int8x16_t bytes;

  byte_register() = default;
  explicit NNC_INLINE byte_register(int8x16_t x) : bytes(x) {}
  /// Takes the low bytes of the lanes.
  NNC_INLINE byte_register(i32x<16> x)
      : bytes(vuzp1q_s8(halfwords(x.lo.lo, x.lo.hi),
                        halfwords(x.hi.lo, x.hi.hi))) {}

  static NNC_INLINE narrow<T, 16> load(const T *p) {
    return narrow<T, 16>(vld1q_s8(reinterpret_cast<const int8_t *>(p)));
  }
  NNC_INLINE void store(T *p) const {
    vst1q_s8(reinterpret_cast<int8_t *>(p), bytes);
  }
  NNC_INLINE i32x<16> widened() const {
    if constexpr (is_signed<T>::value) {
      const int16x8_t low = vmovl_s8(vget_low_s8(bytes));
      const int16x8_t high = vmovl_high_s8(bytes);
      return {
          {i32x<4>(vmovl_s16(vget_low_s16(low))), i32x<4>(vmovl_high_s16(low))},
          {i32x<4>(vmovl_s16(vget_low_s16(high))),
           i32x<4>(vmovl_high_s16(high))}};
    } else {
      const uint8x16_t all = vreinterpretq_u8_s8(bytes);
      const uint16x8_t low = vmovl_u8(vget_low_u8(all));
      const uint16x8_t high = vmovl_high_u8(all);
      const auto lanes_from = [](uint32x4_t x) {
        return i32x<4>(vreinterpretq_s32_u32(x));
      };
      return {{lanes_from(vmovl_u16(vget_low_u16(low))),
               lanes_from(vmovl_high_u16(low))},
              {lanes_from(vmovl_u16(vget_low_u16(high))),
               lanes_from(vmovl_high_u16(high))}};
    }
  }

  /// Rounds numbers to nearest, halves to even, adds Zero and limits the
  /// results to [Low, High]. Saturation to 16 bits comes first; it changes no
  /// result, because Zero is small.
  template <int Zero, int Low, int High>
  static NNC_INLINE narrow<T, 16> nearest(f32x<16> x) {
    static_assert(Zero > -1024 && Zero < 1024, "the zero point of a byte");
    const int16x8_t low = nearest_halfwords<Zero>(x.lo.lo, x.lo.hi);
    const int16x8_t high = nearest_halfwords<Zero>(x.hi.lo, x.hi.hi);
    if constexpr (is_signed<T>::value) {
      int8x16_t all = vqmovn_high_s16(vqmovn_s16(low), high);
      if constexpr (Low > -128)
        all = vmaxq_s8(all, vdupq_n_s8(Low));
      if constexpr (High < 127)
        all = vminq_s8(all, vdupq_n_s8(High));
      return narrow<T, 16>(all);
    } else {
      uint8x16_t all = vqmovun_high_s16(vqmovun_s16(low), high);
      if constexpr (Low > 0)
        all = vmaxq_u8(all, vdupq_n_u8(Low));
      if constexpr (High < 255)
        all = vminq_u8(all, vdupq_n_u8(High));
      return narrow<T, 16>(vreinterpretq_s8_u8(all));
    }
  }

  /// Looks up 64 of the 256 bytes at a time; other indices keep what is there.
  template <class X>
  static NNC_INLINE narrow<T, 16> look_up(const T *table, X at) {
    const auto *part = reinterpret_cast<const uint8_t *>(table);
    const uint8x16_t index = vreinterpretq_u8_s8(at.bytes);
    uint8x16_t found = vqtbl4q_u8(vld1q_u8_x4(part), index);
    NNC_UNROLL for (int i = 1; i < 4; ++i) found =
        vqtbx4q_u8(found, vld1q_u8_x4(part + 64 * i),
                   vsubq_u8(index, vdupq_n_u8(static_cast<uint8_t>(64 * i))));
    return narrow<T, 16>(vreinterpretq_s8_u8(found));
  }

private:
  static NNC_INLINE int8x16_t halfwords(i32x<4> a, i32x<4> b) {
    return vreinterpretq_s8_s16(
        vuzp1q_s16(vreinterpretq_s16_s32(a.v), vreinterpretq_s16_s32(b.v)));
  }
  template <int Zero>
  static NNC_INLINE int16x8_t nearest_halfwords(f32x<4> a, f32x<4> b) {
    const int16x8_t both =
        vqmovn_high_s32(vqmovn_s32(vcvtnq_s32_f32(a.v)), vcvtnq_s32_f32(b.v));
    return Zero == 0 ? both : vqaddq_s16(both, vdupq_n_s16(Zero));
  }
};

template <> struct narrow<int8_t, 16> : byte_register<int8_t> {
  using byte_register::byte_register;
};
template <> struct narrow<uint8_t, 16> : byte_register<uint8_t> {
  using byte_register::byte_register;
};

#endif

} // namespace nnc

#endif

#endif // NNC_SIMD_BYTES_NEON_H
