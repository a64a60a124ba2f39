//===- bytes_helium.h - Vectors of bytes in vectors of Arm's M profile ----===//
#ifndef NNC_SIMD_BYTES_HELIUM_H
#define NNC_SIMD_BYTES_HELIUM_H

#include "runtime/functions.h"
#include "runtime/simd/bytes_portable.h"
#include "runtime/simd/vec_helium.h"

#if defined(NNC_HELIUM_VECTORS)
namespace nnc {

template <> inline constexpr bool has_byte_parts<4> = true;

template <> struct byte_lanes<4> {
  using V = i32x<4>;
  static constexpr bool conversion_saturates = true;
  static NNC_INLINE V load(const uint8_t *p) {
    return {vreinterpretq_s32_u32(vldrbq_u32(p))};
  }
  static NNC_INLINE V load(const int8_t *p) { return {vldrbq_s32(p)}; }
  static NNC_INLINE V load_pairs(const int8_t *p) {
    return {vreinterpretq_s32_s16(vldrbq_s16(p))};
  }
  static NNC_INLINE V load_pairs(const uint8_t *p) {
    return {vreinterpretq_s32_u16(vldrbq_u16(p))};
  }
  static NNC_INLINE V load_pairs(const int16_t *p) { return load_bits(p); }
  template <class T> static NNC_INLINE V load_two(const T *p, const T *q) {
    return (load(p) & V(0xffff)) | shift_left<16>(load(q));
  }
  static NNC_INLINE V load_bits(const void *p) {
    return {vreinterpretq_s32_u8(vldrbq_u8(static_cast<const uint8_t *>(p)))};
  }
  static NNC_INLINE void store_bits(void *p, V v) {
    vstrbq_u8(static_cast<uint8_t *>(p), vreinterpretq_u8_s32(v.v));
  }
  static NNC_INLINE void store(void *p, V v) {
    vstrbq_s32(static_cast<int8_t *>(p), v.v);
  }
  template <class T> static NNC_INLINE V load_part(const T *p, int count) {
    const mve_pred16_t first = vctp32q(static_cast<uint32_t>(count));
    if constexpr (sizeof(T) == 4)
      return {vldrwq_z_s32(p, first)};
    else if constexpr (sizeof(T) == 2 && is_signed<T>::value)
      return {vldrhq_z_s32(p, first)};
    else if constexpr (sizeof(T) == 2)
      return {vreinterpretq_s32_u32(vldrhq_z_u32(p, first))};
    else if constexpr (is_signed<T>::value)
      return {vldrbq_z_s32(p, first)};
    else
      return {vreinterpretq_s32_u32(vldrbq_z_u32(p, first))};
  }
  template <class T> static NNC_INLINE void store_part(T *p, V v, int count) {
    const mve_pred16_t first = vctp32q(static_cast<uint32_t>(count));
    if constexpr (sizeof(T) == 4)
      vstrwq_p_s32(p, v.v, first);
    else if constexpr (sizeof(T) == 2)
      vstrhq_p_s32(static_cast<int16_t *>(static_cast<void *>(p)), v.v, first);
    else
      vstrbq_p_s32(static_cast<int8_t *>(static_cast<void *>(p)), v.v, first);
  }
  template <class T>
  static NNC_INLINE void store_four(T *p, V a, V b, V c, V d) {
    store_in_turn<4>(p, a, b, c, d);
  }
  template <class T> static NNC_INLINE V look_up(const T *table, V at) {
    const auto *bytes =
        static_cast<const uint8_t *>(static_cast<const void *>(table));
    return {vreinterpretq_s32_u32(
        vldrbq_gather_offset_u32(bytes, vreinterpretq_u32_s32(at.v)))};
  }
  static NNC_INLINE V rescale_double(V x, V multiplier, V shift) {
    const int32x4_t zero = vdupq_n_s32(0);
    const int32x4_t right = vminq_s32(shift.v, zero);
    const int32x4_t high =
        vqrdmulhq_s32(vshlq_s32(x.v, vmaxq_s32(shift.v, zero)), multiplier.v);
    // See bytes_neon.h.
    const int32x4_t nudge = vshrq_n_s32(vandq_s32(high, right), 31);
    return {vrshlq_s32(vaddq_s32(high, nudge), right)};
  }
  /// Only the rounded bits of the lower half of a 64-bit product that remain
  /// after the shift contribute. Shifts by more than 32 bits round the upper
  /// half, and the lower half contributes nothing.
  static NNC_INLINE V rescale_single(V x, V multiplier, V shift) {
    const int32x4_t high = vmulhq_s32(x.v, multiplier.v);
    const uint32x4_t low = vreinterpretq_u32_s32(vmulq_s32(x.v, multiplier.v));
    const int32x4_t of_high = vaddq_n_s32(shift.v, 1);
    const int32x4_t of_low = vaddq_n_s32(shift.v, -31);
    return {vaddq_s32(vrshlq_s32(high, of_high),
                      vreinterpretq_s32_u32(vrshlq_u32(low, of_low)))};
  }
  static NNC_INLINE V multiply(V a, V b) { return {vmulq_s32(a.v, b.v)}; }
  static NNC_INLINE V most(V a, V b) { return {vmaxq_s32(a.v, b.v)}; }
  static NNC_INLINE V least(V a, V b) { return {vminq_s32(a.v, b.v)}; }
  static NNC_INLINE V dot2(V sum, V a, V b) {
    return add_pairs(sum, vreinterpretq_s16_s32(a.v),
                     vreinterpretq_s16_s32(b.v));
  }
  static NNC_INLINE V dot4(V sum, V a, V b) {
    const uint8x16_t x = vreinterpretq_u8_s32(a.v);
    const int8x16_t y = vreinterpretq_s8_s32(b.v);
    const V even =
        add_pairs(sum, vreinterpretq_s16_u16(vmovlbq_u8(x)), vmovlbq_s8(y));
    return add_pairs(even, vreinterpretq_s16_u16(vmovltq_u8(x)), vmovltq_s8(y));
  }

private:
  static NNC_INLINE V add_pairs(V sum, int16x8_t a, int16x8_t b) {
    return {vaddq_s32(sum.v,
                      vaddq_s32(vmullbq_int_s16(a, b), vmulltq_int_s16(a, b)))};
  }
};

} // namespace nnc

#endif

#endif // NNC_SIMD_BYTES_HELIUM_H
