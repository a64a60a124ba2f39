//===- dot_tile.h - A register tile of sums of products of integers -------===//
//
// The inner loop of convolutions and matrix products of integers, as tile.h has
// it for floats: P points times B vectors of weights, whose products are made
// in a form D of simd/dots.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_DOT_TILE_H
#define NNC_ROUTINES_DOT_TILE_H

#include "runtime/simd/dots.h"

namespace nnc {

/// The sums stay in registers where all loops over them are unrolled.
template <class D, int P, int B> struct dot_tile {
  static_assert(P > 0 && B > 0, "a tile has points");
  static constexpr int W = D::lanes;

  i32x<W> sum[P][B];

  NNC_INLINE void clear() {
    NNC_UNROLL for (int p = 0; p < P; ++p)
        NNC_UNROLL for (int b = 0; b < B; ++b) sum[p][b] = i32x<W>(0);
  }

  /// Adds the products of one group of numbers of each point. The points are
  /// `point` numbers apart, the vectors of weights `block` weights.
  template <class T>
  NNC_INLINE void add(const typename D::point *points, std::ptrdiff_t point,
                      const T *w, std::ptrdiff_t block) {
    i32x<W> weights[B];
    NNC_UNROLL for (int b = 0; b < B; ++b) weights[b] =
        D::weights(w + b * block);
    NNC_UNROLL for (int p = 0; p < P; ++p) {
      const i32x<W> v = repeat_group<D>(points + p * point);
      NNC_UNROLL for (int b = 0; b < B; ++b) sum[p][b] =
          D::add(sum[p][b], v, weights[b]);
    }
  }

  /// Calls store(p, b, sum) for every sum. The sums leave the registers before:
  /// code of an epilogue for each of them would be long, and g++ would keep
  /// them in memory in the loop that makes them, too.
  template <class F> NNC_INLINE void for_each(const F &store) const {
    i32x<W> done[P][B];
    NNC_UNROLL for (int p = 0; p < P; ++p)
        NNC_UNROLL for (int b = 0; b < B; ++b) done[p][b] = sum[p][b];
    NNC_FORGET_LOADS;
    for (int b = 0; b < B; ++b)
      for (int p = 0; p < P; ++p)
        store(p, b, done[p][b]);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_DOT_TILE_H
