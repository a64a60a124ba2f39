//===- global_plan.h - How global average pooling is cut ------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_GLOBAL_PLAN_H
#define NNC_ROUTINES_POOLING_POOL2D_GLOBAL_PLAN_H

#include "runtime/routines/units/thread_ranges.h"

namespace nnc {

/// The division of global average pooling into units of work, with channels in
/// blocks of W. A unit is a channel block of an image or, where threads divide
/// a layer by places of the map (thread_ranges.h), a part of an image that
/// consists of whole rows; the sums of the parts are then added in order. The
/// number of parts does not depend on the number of threads, so results do not
/// either.
struct global_pool_plan {
  bool by_place; ///< whether units are parts of images
  int parts;     ///< parts of an image; 1 if not by_place
  int blocks;    ///< channel blocks of an image
  int units;     ///< parts or blocks of all images

  /// Bytes for the sums of all parts. They are 0 where units are channel
  /// blocks, or where one thread computes everything.
  constexpr ptrdiff_t scratch(int images, int W, int threads) const {
    return by_place && threads > 1 ? whole_lines(ptrdiff_t(sizeof(float)) *
                                                 images * parts * blocks * W)
                                   : 0;
  }
};

template <class S>
constexpr global_pool_plan plan_global_pool(const S &s, int W) {
  constexpr int most_parts = 16;
  const bool by_place = shares_places_of_planes(s.c, s.h * s.w);
  const int parts = by_place ? smaller(s.h, most_parts) : 1;
  const int blocks = ceil_div(s.c, W);
  return {by_place, parts, blocks, s.n * (by_place ? parts : blocks)};
}
template <class S>
constexpr ptrdiff_t global_pool_scratch(const S &s, int W, int threads) {
  return plan_global_pool(s, W).scratch(s.n, W, threads);
}

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_GLOBAL_PLAN_H
