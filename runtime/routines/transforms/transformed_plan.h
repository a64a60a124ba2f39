//===- transformed_plan.h - How products of transformed tiles are cut -----===//
#ifndef NNC_ROUTINES_TRANSFORMS_TRANSFORMED_PLAN_H
#define NNC_ROUTINES_TRANSFORMS_TRANSFORMED_PLAN_H

#include "runtime/counts.h"

#include <stddef.h>

namespace nnc {

/// The division of a layer into units of work by transformed.h. The output
/// tiles of all images are numbered consecutively. P consecutive tiles are a
/// group (the points of a register tile), and B consecutive blocks of W output
/// channels are a run. A unit of work, one for each thread, is one of `parts`
/// ranges of groups times one of `run_parts` ranges of runs. It processes its
/// groups in strips, which are so short that a strip's transformed input stays
/// in the second-level cache. Where all runs of one point are computed before
/// the next point, only that point's input and the sums of all runs have to
/// stay there.
struct transformed_plan {
  int width; ///< W
  int bytes; ///< size of an element
  int near;  ///< largest strip in bytes that fits in the second-level cache
  int rows, cols;    ///< tiles of an image
  int tiles;         ///< tiles of all images
  int points;        ///< products for each tile
  int inputs;        ///< points whose input is stored in scratch
  int products;      ///< sums of a tile kept in scratch at a time
  int channels;      ///< input channels of a product
  int in_blocks;     ///< blocks of W input channels
  int out_blocks;    ///< blocks of W output channels
  int group_tiles;   ///< P
  int groups;        ///< groups of P tiles
  int run_blocks;    ///< B
  int runs;          ///< runs of B blocks
  int parts = 1;     ///< ranges of groups
  int run_parts = 1; ///< ranges of runs
  int strip_groups;  ///< longest strip, in groups
  int strip_tiles;   ///< longest strip, in tiles
  /// sums_points: the method adds each point's products to sums when they are
  /// made, so that all runs of one point may be computed before the next point.
  /// points_first: all runs of one point are.
  bool sums_points = false, points_first = false;
  /// Elements from one point to the next of the transformed input and of the
  /// products. The additional vector keeps points from mapping to the same sets
  /// of a cache.
  ptrdiff_t input_point, product_point;

  constexpr int units() const { return parts * run_parts; }

  /// Bytes of scratch of one thread, a multiple of a cache line.
  constexpr ptrdiff_t thread_scratch() const {
    return whole_lines((inputs * input_point + products * product_point) *
                       bytes);
  }
  /// Bytes of scratch that suffice for `threads` threads and for fewer.
  constexpr ptrdiff_t scratch(int threads) const {
    ptrdiff_t most = 0;
    for (int count = 1; count <= threads; ++count) {
      const transformed_plan p = shared(count);
      const ptrdiff_t all = p.units() * p.thread_scratch();
      most = most < all ? all : most;
    }
    return most;
  }

  /// Estimated time of the largest unit, in multiply-adds of vectors for each
  /// point. It counts the products, the transform of the input, which is
  /// repeated in each range of runs, and the reads of weights, which are
  /// repeated in each range of groups. If runs are divided, half of the input
  /// comes from another core, and half of the output goes to one; see
  /// thread_ranges.h.
  constexpr double unit_time() const {
    const double t = smaller(tiles, ceil_div(groups, parts) * group_tiles);
    const double b =
        smaller(out_blocks, ceil_div(runs, run_parts) * run_blocks);
    const double values = run_parts > 1 ? t * (in_blocks + b) : 0.0;
    return t * b * channels + 8 * t * in_blocks + 5 * b * channels + 4 * values;
  }

  /// The fastest plan, by unit_time(), with at most one unit for each of
  /// `threads` threads.
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

  /// Sets the length of strips for the current `parts`. Each strip reads all
  /// weights again. Where weights are much larger than the transformed input,
  /// fewer and longer strips pay, although a strip's input then comes from
  /// beyond the second-level cache for each point.
  constexpr void cut_strips() {
    const int all = ceil_div(groups, parts);
    const int out = ceil_div(runs, run_parts) * run_blocks;
    const ptrdiff_t block = ptrdiff_t(width) * bytes;
    const ptrdiff_t input = group_tiles * in_blocks * block;
    strip_groups = groups_near(all, points * input);
    points_first = false;
    if (sums_points) {
      const ptrdiff_t sums = products * group_tiles * out * block;
      const ptrdiff_t weights = points * out * block * channels;
      const int longer = groups_near(all, input + sums);
      const int fewer = ceil_div(all, strip_groups) - ceil_div(all, longer);
      points_first = fewer * weights > 8 * (inputs * input * all);
      strip_groups = points_first ? longer : strip_groups;
    }
    strip_tiles = strip_groups * group_tiles;
    const int kept = points_first ? out : run_blocks;
    input_point = (ptrdiff_t(strip_tiles) * in_blocks + 1) * width;
    product_point = (ptrdiff_t(strip_tiles) * kept + 1) * width;
  }

private:
  /// Groups of a strip if `all` groups, of `each` bytes, are cut into equal
  /// strips that the second-level cache holds.
  constexpr int groups_near(int all, ptrdiff_t each) const {
    const ptrdiff_t strips = (all * each + near / 2) / near;
    return strips < 1 ? all : strips > all ? 1 : ceil_div(all, int(strips));
  }
};

/// Default size of a strip in KiB: a part of the second-level cache of most
/// cores.
constexpr int usual_strip = 512;

/// Plan for `images` images of rows x cols tiles with `points` points, which
/// multiplies `channels` by `filters` channels. All transformed inputs and
/// products are stored. `bytes` is the size of an element, `strip` that of a
/// strip in KiB.
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

#endif // NNC_ROUTINES_TRANSFORMS_TRANSFORMED_PLAN_H
