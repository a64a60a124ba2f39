//===- dots.h - Products of integers, several to a lane -------------------===//
//
// What a register tile of integer sums does in a step: it multiplies `group`
// consecutive numbers of each point with as many of each of W columns of
// weights, and adds the products to W sums of 32 bits. Which form is fast
// depends on the instruction set.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_DOTS_H
#define NNC_SIMD_DOTS_H

#include "runtime/simd/bytes.h"

namespace nnc {

/// Two products of 16 bits in each lane: exact for any numbers of 8 bits, and
/// for weights of 9 bits, which a weight minus its zero point may have. Points
/// are stored as 16 bits; weights are widened when they are loaded.
template <int W> struct pair_dots {
  static constexpr int lanes = W, group = 2;
  using point = std::int16_t;

  template <class T> static NNC_INLINE i32x<W> weights(const T *w) {
    return byte_lanes<W>::load_pairs(w);
  }
  static NNC_INLINE i32x<W> add(i32x<W> sum, i32x<W> points, i32x<W> weights) {
    return byte_lanes<W>::dot2(sum, points, weights);
  }
};

/// Four products of an unsigned byte of a point and a signed byte of a weight.
template <int W> struct byte_dots {
  static constexpr int lanes = W, group = 4;
  using point = std::uint8_t;

  static NNC_INLINE i32x<W> weights(const std::int8_t *w) {
    return byte_lanes<W>::load_bits(w);
  }
  static NNC_INLINE i32x<W> add(i32x<W> sum, i32x<W> points, i32x<W> weights) {
    return byte_lanes<W>::dot4(sum, points, weights);
  }
};

/// A group of numbers of a point, in every lane.
template <class D>
NNC_INLINE i32x<D::lanes> repeat_group(const typename D::point *p) {
  static_assert(D::group * sizeof(*p) == 4, "a group fills a lane");
  std::int32_t bits;
  memcpy(&bits, p, sizeof bits);
  return i32x<D::lanes>(bits);
}

/// Copies `count` numbers from x to y, which may be wider.
template <int W, class X, class Y>
NNC_INLINE void copy_points(Y *y, const X *x, std::ptrdiff_t count) {
  if constexpr (std::is_same<X, Y>::value) {
    memcpy(y, x, static_cast<std::size_t>(count) * sizeof(X));
  } else {
    std::ptrdiff_t i = 0;
    if constexpr (sizeof(Y) == 2 && sizeof(X) == 1)
      for (; i + 2 * W <= count; i += 2 * W)
        byte_lanes<W>::store_bits(y + i, byte_lanes<W>::load_pairs(x + i));
    for (; i < count; ++i)
      y[i] = static_cast<Y>(x[i]);
  }
}

} // namespace nnc

#endif // NNC_SIMD_DOTS_H
