//===- global_plan.h - How the average of whole planes is shared ----------===//
#ifndef NNC_ROUTINES_POOL2D_GLOBAL_PLAN_H
#define NNC_ROUTINES_POOL2D_GLOBAL_PLAN_H

#include "runtime/routines/shares.h"

namespace nnc {

/// Of blocks of W channels. Where threads have places of the map, each image is
/// cut into parts of whole rows, whose sums are added in order: as many
/// whatever the number of threads is, so that results are the same.
struct global_pool_plan {
  bool by_place;
  int parts;  ///< of an image, if by_place; else one
  int blocks; ///< of an image's channels
  int units;  ///< all images' parts, or blocks

  /// Bytes that the parts' sums are kept in, where several threads make them.
  constexpr std::ptrdiff_t scratch(int images, int W, int threads) const {
    return by_place && threads > 1 ? whole_lines(std::ptrdiff_t(sizeof(float)) *
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
constexpr std::ptrdiff_t global_pool_scratch(const S &s, int W, int threads) {
  return plan_global_pool(s, W).scratch(s.n, W, threads);
}

} // namespace nnc

#endif // NNC_ROUTINES_POOL2D_GLOBAL_PLAN_H
