//===- transformed_plan.h - How transformed.h cuts its work ---------------===//
#ifndef NNC_ROUTINES_TRANSFORMED_PLAN_H
#define NNC_ROUTINES_TRANSFORMED_PLAN_H

#include "runtime/routines/policy.h"

#include <cstddef>

namespace nnc {

/// The tiles of all images and rows are in one line. P of them are a group, a
/// register tile's points; B blocks of output channels are a run. Threads share
/// the work so that each has one of `parts` of the groups times one of
/// `run_parts` of the runs: a unit. Of the groups in a part, so many are a
/// strip that their transformed input stays in the second-level cache; where
/// all runs of a point come before the next, that point's, beside all sums.
struct transformed_plan {
  int width;       ///< W
  int bytes;       ///< of an element
  int near;        ///< bytes of a strip that the second-level cache holds
  int rows, cols;  ///< of tiles in an image
  int tiles;       ///< in all
  int points;      ///< of a tile
  int inputs;      ///< of these, points whose input is made
  int products;    ///< kept of a tile at a time
  int channels;    ///< of the input
  int in_blocks;   ///< of W of them
  int out_blocks;  ///< of W output channels
  int group_tiles; ///< P
  int groups;      ///< of P tiles
  int run_blocks;  ///< B
  int runs;        ///< of B blocks
  int parts = 1;
  int run_parts = 1;
  int strip_groups; ///< of a strip, at most
  int strip_tiles;
  /// Whether points are summed one after the other, so that all runs of one may
  /// come before the next point; and whether they do.
  bool sums_points = false, points_first = false;
  /// Elements from one point to the next of the transformed input and of the
  /// products. The odd vector keeps points out of each other's cache lines.
  std::ptrdiff_t input_point, product_point;

  constexpr int units() const { return parts * run_parts; }

  /// Bytes of scratch of one thread, a multiple of a cache line.
  constexpr std::ptrdiff_t thread_scratch() const {
    return whole_lines((inputs * input_point + products * product_point) *
                       bytes);
  }
  /// Of so many threads, or of fewer.
  constexpr std::ptrdiff_t scratch(int threads) const {
    std::ptrdiff_t most = 0;
    for (int count = 1; count <= threads; ++count) {
      const transformed_plan p = shared(count);
      const std::ptrdiff_t all = p.units() * p.thread_scratch();
      most = most < all ? all : most;
    }
    return most;
  }

  /// About how long the largest unit takes, in multiplications of vectors for
  /// each point: products, the transform of the input, which is made again for
  /// each part of the runs, and weights, which come again for each part of the
  /// groups. Where runs are parted, half the input comes from another core, and
  /// half the output goes to one; see shares.h.
  constexpr double unit_time() const {
    const double t = smaller(tiles, ceil_div(groups, parts) * group_tiles);
    const double b =
        smaller(out_blocks, ceil_div(runs, run_parts) * run_blocks);
    const double values = run_parts > 1 ? t * (in_blocks + b) : 0.0;
    return t * b * channels + 8 * t * in_blocks + 5 * b * channels + 4 * values;
  }

  /// With a unit for each of so many threads, or for fewer: whatever takes the
  /// least time.
  constexpr transformed_plan shared(int threads) const {
    transformed_plan best = *this, next = *this;
    for (next.parts = 1; next.parts <= smaller(threads, groups); ++next.parts) {
      next.run_parts = smaller(threads / next.parts, runs);
      if (next.unit_time() < best.unit_time())
        best = next;
    }
    best.cut_strips();
    return best;
  }

  /// For the parts that there are. Each strip reads all weights anew: where
  /// that is much more than what is transformed, fewer strips pay, although
  /// their input comes from beyond the second-level cache for each point.
  constexpr void cut_strips() {
    const int all = ceil_div(groups, parts);
    const int out = ceil_div(runs, run_parts) * run_blocks;
    const std::ptrdiff_t block = std::ptrdiff_t(width) * bytes;
    const std::ptrdiff_t input = group_tiles * in_blocks * block;
    strip_groups = groups_near(all, points * input);
    points_first = false;
    if (sums_points) {
      const std::ptrdiff_t sums = products * group_tiles * out * block;
      const std::ptrdiff_t weights = points * out * block * channels;
      const int longer = groups_near(all, input + sums);
      const int fewer = ceil_div(all, strip_groups) - ceil_div(all, longer);
      points_first = fewer * weights > 8 * (inputs * input * all);
      strip_groups = points_first ? longer : strip_groups;
    }
    strip_tiles = strip_groups * group_tiles;
    const int kept = points_first ? out : run_blocks;
    input_point = (std::ptrdiff_t(strip_tiles) * in_blocks + 1) * width;
    product_point = (std::ptrdiff_t(strip_tiles) * kept + 1) * width;
  }

private:
  /// Of `all`, the groups of each strip of one length, for a second-level cache
  /// that has to hold so many bytes of each.
  constexpr int groups_near(int all, std::ptrdiff_t each) const {
    const std::ptrdiff_t strips = (all * each + near / 2) / near;
    return strips < 1 ? all : strips > all ? 1 : ceil_div(all, int(strips));
  }
};

/// Bytes of a strip, in KiB: a share of the second-level cache of most cores.
constexpr int usual_strip = 512;

/// `images` of rows x cols tiles with so many points, all made and kept,
/// `channels` multiplied to `filters`. An element has so many bytes, a strip of
/// transformed tiles so many KiB.
constexpr transformed_plan plan_transformed(int images, int rows, int cols,
                                            int points, int channels,
                                            int filters, int W, int P, int B,
                                            int bytes = sizeof(float),
                                            int strip = usual_strip) {
  transformed_plan p{};
  p.width = W;
  p.bytes = bytes;
  p.near = strip * 1024;
  p.rows = rows;
  p.cols = cols;
  p.tiles = images * rows * cols;
  p.points = p.inputs = p.products = points;
  p.channels = channels;
  p.in_blocks = ceil_div(channels, W);
  p.out_blocks = ceil_div(filters, W);
  p.group_tiles = P;
  p.groups = ceil_div(p.tiles, P);
  p.run_blocks = B;
  p.runs = ceil_div(p.out_blocks, B);
  p.cut_strips();
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_TRANSFORMED_PLAN_H
