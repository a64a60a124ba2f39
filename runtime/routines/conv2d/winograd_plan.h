//===- winograd_plan.h - How Winograd's convolution cuts its work ---------===//
#ifndef NNC_ROUTINES_CONV2D_WINOGRAD_PLAN_H
#define NNC_ROUTINES_CONV2D_WINOGRAD_PLAN_H

#include "runtime/routines/policy.h"

#include <cstddef>

namespace nnc {

/// The output is cut into tiles of M x M pixels (one where there is one tap),
/// those of all images and rows in one line. P of them are a group, a register
/// tile's points. Groups are cut into parts, the output's channel blocks into
/// runs of B: a unit of work is a part times some runs. Of the groups that a
/// thread has, so many are a strip that their transformed input stays in the
/// second-level cache.
struct winograd_plan {
  int rows, cols;   ///< of tiles in an image
  int tiles;        ///< in all
  int groups;       ///< of P tiles
  int strip_groups; ///< of a strip, at most
  int strip_tiles;
  int runs;      ///< of B blocks of output channels
  int parts;     ///< units along groups
  int run_parts; ///< units along runs
  /// Floats from one point to the next of the transformed input and of the
  /// products. The odd vector keeps points out of each other's cache lines.
  std::ptrdiff_t input_point, product_point;

  constexpr int units() const { return parts * run_parts; }
};

/// Outputs along an axis of a tile.
constexpr int winograd_outputs(int taps, int M) { return taps == 1 ? 1 : M; }

template <class S> constexpr int winograd_points(const S &s, int M) {
  return (winograd_outputs(s.kh, M) + s.kh - 1) *
         (winograd_outputs(s.kw, M) + s.kw - 1);
}

template <class S>
constexpr winograd_plan plan_winograd(const S &s, int W, int M, int P, int B) {
  // The share of a second-level cache for the input's transform.
  constexpr std::ptrdiff_t level2 = 512 * 1024;
  winograd_plan p{};
  p.rows = ceil_div(s.oh, winograd_outputs(s.kh, M));
  p.cols = ceil_div(s.ow, winograd_outputs(s.kw, M));
  p.tiles = s.n * p.rows * p.cols;
  p.groups = ceil_div(p.tiles, P);
  const int blocks = ceil_div(s.c, W);
  const std::ptrdiff_t bytes = std::ptrdiff_t(winograd_points(s, M)) *
                               p.groups * P * blocks * W * int(sizeof(float));
  const std::ptrdiff_t strips = (bytes + level2 / 2) / level2;
  p.strip_groups = strips < 1          ? p.groups
                   : strips > p.groups ? 1
                                       : ceil_div(p.groups, int(strips));
  p.strip_tiles = p.strip_groups * P;
  p.runs = ceil_div(ceil_div(s.k, W), B);
  p.parts = smaller(p.groups, most_scratch_threads);
  p.run_parts = smaller(p.runs, most_scratch_threads / p.parts);
  p.input_point = (std::ptrdiff_t(p.strip_tiles) * blocks + 1) * W;
  p.product_point = (std::ptrdiff_t(p.strip_tiles) * B + 1) * W;
  return p;
}

/// Bytes of scratch of one unit, a multiple of a cache line, and of all that
/// run at once.
template <class S>
constexpr std::ptrdiff_t winograd_unit_scratch(const S &s, int W, int M, int P,
                                               int B) {
  const winograd_plan p = plan_winograd(s, W, M, P, B);
  const std::ptrdiff_t bytes = winograd_points(s, M) *
                               (p.input_point + p.product_point) *
                               std::ptrdiff_t(sizeof(float));
  return (bytes + 63) / 64 * 64;
}
template <class S>
constexpr std::ptrdiff_t winograd_scratch(const S &s, int W, int M, int P,
                                          int B, int threads) {
  return winograd_unit_scratch(s, W, M, P, B) *
         smaller(threads, plan_winograd(s, W, M, P, B).units());
}

} // namespace nnc

#endif // NNC_ROUTINES_CONV2D_WINOGRAD_PLAN_H
