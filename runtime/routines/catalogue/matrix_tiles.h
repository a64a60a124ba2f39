//===- matrix_tiles.h - Efficiency of products on tile registers ----------===//
#ifndef NNC_ROUTINES_CATALOGUE_MATRIX_TILES_H
#define NNC_ROUTINES_CATALOGUE_MATRIX_TILES_H

#include "runtime/routines/attention/tiles_plan.h"
#include "runtime/routines/catalogue/tile.h"
#include "runtime/routines/convolution/conv2d/gathered_tiles_plan.h"
#include "runtime/routines/convolution/conv2d/tiles_plan.h"
#include "runtime/routines/matrix/matmul/tiles_plan.h"

namespace nnc {

/// The constants of costs/matrix_tiles.inc, which says what they mean.
namespace matrix_tile_costs {
#define NNC_MATRIX_TILE_COST(name, value, unit, meaning)                       \
  inline constexpr double name = value;
#include "runtime/routines/costs/matrix_tiles.inc"
} // namespace matrix_tile_costs

/// A strip of `points` points by `panels` panels of 16 columns, whose sums have
/// `steps` steps of 64 bytes.
struct tile_strip {
  int points, panels, steps;
};

/// Cycles of a block of R x C tiles of a strip. Operands that the first-level
/// cache does not hold arrive at the rate of the second-level cache.
constexpr double tile_block_cycles(const tile_limits &t, const tile_strip &s,
                                   int R, int C) {
  namespace costs = matrix_tile_costs;
  const double step_bytes = 1024.0 * s.steps;
  const bool holds_points =
      ceil_div(s.points, 16) * step_bytes <= costs::tile_level1_bytes;
  const bool holds_weights = C * step_bytes <= costs::tile_level1_bytes;
  const double arithmetic =
      R * C * costs::tile_product_cycles + (R + C) * costs::tile_load_cycles;
  const double loads = 1024.0 *
                       ((holds_points ? 0 : R) + (holds_weights ? 0 : C)) /
                       t.core.level2_rate;
  return s.steps * (arithmetic < loads ? loads : arithmetic) +
         costs::tile_ends_cycles + R * C * 16 * costs::tile_result_cycles;
}

/// Cycles of all blocks of a strip: 2 x 2 tiles, and fewer at the ends.
constexpr double tile_strip_cycles(const tile_limits &t, const tile_strip &s) {
  const int rows = ceil_div(s.points, 16);
  double cycles = 0;
  for (int i = 1; i <= 2; ++i)
    for (int j = 1; j <= 2; ++j) {
      const int down = i == 2 ? rows / 2 : rows % 2;
      const int across = j == 2 ? s.panels / 2 : s.panels % 2;
      cycles += double(down) * across * tile_block_cycles(t, s, i, j);
    }
  return cycles;
}

/// Cycles to read `bytes` bytes of weights again for all of `strips` strips but
/// the first, from the last-level cache if the second-level cache does not hold
/// them beside a strip.
constexpr double tile_reread_cycles(const tile_limits &t, double bytes,
                                    double strips) {
  const double rate = t.core.vector_rate * t.lanes;
  return bytes <= t.core.level2_bytes / 2
             ? 0
             : (strips - 1) * bytes / 4 * t.core.last_cost / rate;
}

/// Efficiency of matmul/tiles.h with elements of `bytes` bytes.
template <class S>
constexpr double tiles_efficiency_of_matmul(const tile_limits &t, const S &s,
                                            int bytes, int KB) {
  const matmul_tiles_plan p = plan_matmul_tiles(s, bytes, KB);
  const int panels = ceil_div(s.n, 16);
  const int last = s.m - (p.strips - 1) * p.rows;
  const double cycles =
      (p.strips - 1) * tile_strip_cycles(t, {p.rows, panels, p.steps}) +
      tile_strip_cycles(t, {last, panels, p.steps}) +
      (p.in_place
           ? 0
           : double(s.m) * p.steps * matrix_tile_costs::tile_copy_cycles) +
      tile_reread_cycles(t, 64.0 * p.groups * panels, p.strips);
  return double(s.m) * s.n * s.k / (cycles * t.core.vector_rate * t.lanes);
}

/// Efficiency of attention/tiles.h.
template <class S>
constexpr double tiles_efficiency_of_attention(const tile_limits &t, const S &s,
                                               int ROWS) {
  const attention_tiles_plan p = plan_attention_tiles(s, ROWS);
  const double groups = ceil_div(s.queries, 32);
  const double blocks = ceil_div(s.keys, p.keys);
  const double rate = t.core.vector_rate * t.lanes;
  const double products =
      2 * tile_block_cycles(t, {32, 2, p.steps}, 2, 2) +
      p.columns / 2 * tile_block_cycles(t, {32, 2, 2}, 2, 2);
  const double exponentials =
      32.0 * p.keys * t.cost->attention_exponential_cost / rate;
  // Keys and values are copied in pairs of elements, 16 of which are as long as
  // a row of a tile.
  const double copies = double(p.strips) * s.keys * (s.dim + s.value_dim) / 8 *
                        matrix_tile_costs::tile_copy_cycles;
  const double cycles = groups * blocks * (products + exponentials) + copies;
  return double(s.queries) * s.keys * (s.dim + s.value_dim) / (cycles * rate);
}

/// Efficiency of conv2d/tiles.h with elements of `bytes` bytes.
template <class S>
constexpr double tiles_efficiency_of_conv2d(const tile_limits &t, const S &s,
                                            int bytes, int KB) {
  const conv2d_tiles_plan p = plan_conv2d_tiles(s, bytes, KB);
  const int points = (p.rows - 1) * p.pitch + p.columns;
  // Strips are counted as if the last ones were whole, less what they lack.
  const double strips = double(p.images) * p.out_height * p.out_width /
                        (double(p.rows) * p.columns);
  const double work =
      double(s.k) * s.oh * s.ow * s.n * (s.c / s.groups) * s.kh * s.kw;
  const double cycles =
      strips * (tile_strip_cycles(t, {points, p.out_blocks, p.steps}) +
                double(p.copied) / 64 * matrix_tile_costs::tile_copy_cycles) +
      tile_reread_cycles(t, double(p.panel) * p.out_blocks,
                         double(p.down) * p.across * s.n) *
          s.groups;
  return work / (cycles * t.core.vector_rate * t.lanes);
}

/// Efficiency of conv2d/gathered_tiles.h with elements of `bytes` bytes.
template <class S>
constexpr double gathered_tiles_efficiency(const tile_limits &t, const S &s,
                                           int bytes, int KB) {
  namespace costs = matrix_tile_costs;
  const gathered_tiles_plan p = plan_gathered_tiles(s, bytes, KB);
  const double strips = double(p.images) * s.oh * s.ow / (p.rows * p.columns);
  const double work =
      double(s.k) * s.oh * s.ow * s.n * (s.c / s.groups) * s.kh * s.kw;
  // Taps that are not side by side are gathered one by one.
  const int runs = s.dw == 1 ? s.kh : s.kh * s.kw;
  const int bytes_of_run = s.dw == 1 ? s.kw * p.pixel : p.pixel;
  const double gathered = double(p.rows) * p.columns * runs *
                          ceil_div(bytes_of_run, 32) *
                          costs::tile_gather_cycles;
  const double copied =
      double(p.copy_rows) * p.copy_columns * costs::tile_copy_cycles;
  const double cycles =
      strips *
      (tile_strip_cycles(t, {p.rows * p.columns, p.out_blocks, p.steps}) +
       gathered + copied);
  return work / (cycles * t.core.vector_rate * t.lanes);
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_MATRIX_TILES_H
