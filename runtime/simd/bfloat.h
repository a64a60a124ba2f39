//===- bfloat.h - bf16, a number of 16 bits in memory ---------------------===//
//
// bf16 is the upper half of a float: 8 bits of exponent and 7 of fraction. It
// is loaded as a float, or into vectors of float, and rounded to the nearest
// bf16 (ties to even) when stored.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_BFLOAT_H
#define NNC_SIMD_BFLOAT_H

#include "runtime/functions.h"
#include "runtime/simd/half.h"

namespace nnc {

struct bf16 {
  bf16() = default;
  NNC_INLINE bf16(float x) : bits(round(x)) {}
  NNC_INLINE operator float() const {
    // The shift is of an unsigned number: the sign is its highest bit.
    return bit_cast_float(
        static_cast<int32_t>(static_cast<uint32_t>(bits) << 16));
  }

private:
  static NNC_INLINE uint16_t round(float x) {
    const auto all = static_cast<uint32_t>(bit_cast_int(x));
    if ((all & 0x7fffffff) > 0x7f800000) // NaN
      return static_cast<uint16_t>((all >> 16 & 0x8000) | 0x7fc0);
    return static_cast<uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }

  uint16_t bits;
};
static_assert(sizeof(bf16) == 2, "as it lies in memory");
template <> inline constexpr bool holds_float<bf16> = true;

/// load() and store() of vec.h for memory of bf16.
template <class V> NNC_INLINE V load(const bf16 *p, int count) {
  alignas(64) float values[lanes<V>];
  for (int i = 0; i < lanes<V>; ++i)
    values[i] = i < count ? float(p[i]) : 0.0f;
  return load<V>(values);
}
template <class V> NNC_INLINE V load(const bf16 *p) {
  return load<V>(p, lanes<V>);
}
NNC_INLINE void store(bf16 *p, float v) { *p = v; }
NNC_INLINE void store(bf16 *p, float v, int count) {
  if (count > 0)
    *p = v;
}
template <int W> NNC_INLINE void store(bf16 *p, f32x<W> v, int count) {
  alignas(64) float values[W];
  v.store(values);
  for (int i = 0; i < W && i < count; ++i)
    p[i] = values[i];
}
template <int W> NNC_INLINE void store(bf16 *p, f32x<W> v) { store(p, v, W); }

} // namespace nnc

#endif // NNC_SIMD_BFLOAT_H
