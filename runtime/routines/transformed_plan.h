//===- transformed_plan.h - How transformed.h cuts its work ---------------===//
#ifndef NNC_ROUTINES_TRANSFORMED_PLAN_H
#define NNC_ROUTINES_TRANSFORMED_PLAN_H

#include "runtime/routines/policy.h"

#include <cstddef>

namespace nnc {

/// The tiles of all images and rows are in one line. P of them are a group, a
/// register tile's points. Groups are cut into parts, the output's channel
/// blocks into runs of B: a unit of work is a part times some runs. Of the
/// groups that a thread has, so many are a strip that their transformed input
/// stays in the second-level cache.
struct transformed_plan {
  int rows, cols;   ///< of tiles in an image
  int tiles;        ///< in all
  int points;       ///< of a tile
  int inputs;       ///< of these, points whose input is made
  int products;     ///< kept of a tile at a time
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

  /// Bytes of scratch of one unit, a multiple of a cache line, and of all that
  /// run at once.
  constexpr std::ptrdiff_t unit_scratch() const {
    return whole_lines((inputs * input_point + products * product_point) *
                       std::ptrdiff_t(sizeof(float)));
  }
  constexpr std::ptrdiff_t scratch(int threads) const {
    return unit_scratch() * smaller(threads, units());
  }
};

/// `images` of rows x cols tiles with so many points, all made and kept,
/// `channels` multiplied to `filters`.
constexpr transformed_plan plan_transformed(int images, int rows, int cols,
                                            int points, int channels,
                                            int filters, int W, int P, int B) {
  // The share of a second-level cache for the input's transform.
  constexpr std::ptrdiff_t level2 = 512 * 1024;
  transformed_plan p{};
  p.rows = rows;
  p.cols = cols;
  p.tiles = images * rows * cols;
  p.points = p.inputs = p.products = points;
  p.groups = ceil_div(p.tiles, P);
  const int blocks = ceil_div(channels, W);
  const std::ptrdiff_t bytes =
      std::ptrdiff_t(points) * p.groups * P * blocks * W * int(sizeof(float));
  const std::ptrdiff_t strips = (bytes + level2 / 2) / level2;
  p.strip_groups = strips < 1          ? p.groups
                   : strips > p.groups ? 1
                                       : ceil_div(p.groups, int(strips));
  p.strip_tiles = p.strip_groups * P;
  p.runs = ceil_div(ceil_div(filters, W), B);
  // A few groups, of which the last is smaller, would not share out evenly.
  const bool by_runs =
      p.groups < most_scratch_threads && p.runs >= most_scratch_threads;
  p.parts = by_runs ? 1 : smaller(p.groups, most_scratch_threads);
  p.run_parts = smaller(p.runs, most_scratch_threads / p.parts);
  p.input_point = (std::ptrdiff_t(p.strip_tiles) * blocks + 1) * W;
  p.product_point = (std::ptrdiff_t(p.strip_tiles) * B + 1) * W;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_TRANSFORMED_PLAN_H
