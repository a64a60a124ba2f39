//===- tile.h - Efficiency of register tiles ------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_TILE_H
#define NNC_ROUTINES_CATALOGUE_TILE_H

#include "runtime/counts.h"
#include "runtime/routines/catalogue/core.h"
#include "runtime/routines/catalogue/costs.h"
#include "runtime/routines/units/caches.h"

namespace nnc {

/// The limits on the speed of a register tile
/// (runtime/routines/tiles/floats.h): the vectors of an instruction set, its
/// cost constants, and the core.
struct tile_limits {
  int lanes;    ///< numbers in a vector
  bool by_lane; ///< one load of points serves as many steps as it has lanes,
                ///< because multiply-adds take a single lane as a factor
  const routine_costs *cost;
  core_limits core;
  bool splits_sums = true; ///< sums of long tiles may be made in parts
  bool counts_ends = true; ///< beginning and ending a sum takes time

  /// Returns the limits of the same vectors on another core.
  constexpr tile_limits on(const core_limits &other) const {
    tile_limits t = *this;
    t.core = other;
    return t;
  }
};

constexpr tile_limits make_tile_limits(const routine_costs &cost, int lanes,
                                       double vector_rate, bool by_lane) {
  tile_limits t{};
  t.lanes = lanes;
  t.by_lane = by_lane;
  t.cost = &cost;
  t.core = usual_core(vector_rate);
  return t;
}

#define NNC_TILE(isa, costs, lanes, vector_rate, by_lane)                      \
  constexpr tile_limits isa##_tile =                                           \
      make_tile_limits(all_costs.costs, lanes, vector_rate, by_lane);
#include "runtime/routines/catalogue/isas.inc"

/// Multiply-adds that a core can issue in the part of the time of a weight's
/// load from the second-level cache that does not overlap with arithmetic.
constexpr double from_level2(const tile_limits &t) {
  return t.core.vector_rate * t.cost->level2_exposed_share * t.lanes * 4 /
         t.core.level2_rate;
}

/// Fraction of the peak rate that a core reaches when it adds to `sums` sums in
/// turn. The additions to one sum wait for each other, so few sums leave the
/// core idle for a part of the latency.
constexpr double chained(const tile_limits &t, double sums) {
  const double most = t.core.vector_rate * t.cost->latency_cycles;
  return sums < most ? sums / most : 1.0;
}

/// Share of the peak rate that a tile of `points` points by `blocks` vectors
/// reaches in sums of `steps` terms. Three things limit it: too few sums wait
/// for each other; each step loads every weight and every point once; and
/// weights that the first-level cache does not hold arrive more slowly, each
/// serving `points` multiply-adds. Tiles of few points make their sums in parts
/// then, so that the weights of a part stay in the first-level cache.
constexpr double tile_efficiency(const tile_limits &t, double steps, int points,
                                 int blocks) {
  const routine_costs &cost = *t.cost;
  const double sums = double(points) * blocks, chains = chained(t, sums);
  const double loads = t.by_lane ? 1.0
                                 : cost.loads_per_cycle * sums /
                                       (t.core.vector_rate * (points + blocks));
  const double bytes = steps * blocks * t.lanes * 4;
  const bool in_parts = t.splits_sums && cost.split_sum_cost > 0 &&
                        bytes > level1_weights && points < many_points;
  const double more = in_parts                     ? cost.split_sum_cost
                      : bytes >= cost.level1_bytes ? from_level2(t)
                                                   : 0.0;
  const double reached = chains < loads ? chains : loads;
  return cost.peak_share * (reached < 1 ? reached : 1.0) * points /
         (points + more);
}

/// Share of the peak rate for a map of rows x cols points by `channels`
/// channels, each a sum of `steps` terms. The map is cut into tiles of R x C
/// points by B blocks of channels, and into smaller tiles for the remainders.
constexpr double tiles_efficiency(tile_limits t, int rows, int cols,
                                  int channels, double steps, int R, int C,
                                  int B) {
  const int blocks = ceil_div(channels, t.lanes);
  if (rows * cols <= R * C)
    t.splits_sums = false;
  double time = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        const int r = i ? rows % R : R, c = j ? cols % C : C;
        const int b = k ? blocks % B : B;
        const double tiles = (i ? r != 0 : rows / R) *
                             double(j ? c != 0 : cols / C) *
                             (k ? b != 0 : blocks / B);
        if (tiles > 0)
          time +=
              tiles * r * c * b * t.lanes / tile_efficiency(t, steps, r * c, b);
      }
  const double ends = t.counts_ends ? t.cost->sum_ends_cycles : 0.0;
  return double(rows) * cols * channels / time * steps /
         (steps + t.core.vector_rate * ends);
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_TILE_H
