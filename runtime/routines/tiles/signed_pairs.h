//===- signed_pairs.h - A register tile of products of signed bytes -------===//
//
// The register tile of integers.h for the products of simd/signed_pairs.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_SIGNED_PAIRS_H
#define NNC_ROUTINES_TILES_SIGNED_PAIRS_H

#include "runtime/functions.h"
#include "runtime/routines/tiles/register_sums.h"
#include "runtime/simd/signed_pairs.h"

namespace nnc {

template <class D, int P, int B> struct dot_tile;

template <int P, int B>
struct dot_tile<signed_pairs, P, B> : register_sums<signed_pairs::lanes, P, B> {
  using D = signed_pairs;
  static constexpr int W = D::lanes;

  using register_sums<W, P, B>::sum;

  NNC_INLINE void add(const int8_t *points, ptrdiff_t point, const int8_t *w,
                      ptrdiff_t block) {
    D::factors weights[B];
    NNC_UNROLL for (int b = 0; b < B; ++b) weights[b] = D::load(w + b * block);
    if (point == D::group) {
      constexpr int fours = P / 4 * 4;
      NNC_UNROLL for (int p = 0; p < fours; p += 4) {
        const D::factors four = D::load(points + p * D::group);
        D::add<0>(sum[p], four, weights);
        D::add<1>(sum[p + 1], four, weights);
        D::add<2>(sum[p + 2], four, weights);
        D::add<3>(sum[p + 3], four, weights);
      }
      add_each<fours>(points, point, weights);
    } else {
      add_each<0>(points, point, weights);
    }
  }

private:
  /// Adds the products of points FIRST to P - 1.
  template <int FIRST>
  NNC_INLINE void add_each(const int8_t *points, ptrdiff_t point,
                           const D::factors (&weights)[B]) {
    NNC_UNROLL for (int p = FIRST; p < P; ++p)
        D::add<0>(sum[p], D::load_point(points + p * point), weights);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TILES_SIGNED_PAIRS_H
