//===- transformed.h - Efficiency of Winograd's and Strassen's methods ----===//
#ifndef NNC_ROUTINES_CATALOGUE_TRANSFORMED_H
#define NNC_ROUTINES_CATALOGUE_TRANSFORMED_H

#include "runtime/routines/catalogue/memory.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/convolution/conv2d/winograd_plan.h"
#include "runtime/routines/transforms/strassen_plan.h"
#include "runtime/routines/units/caches.h"

namespace nnc {

/// One plan serves any number of threads. Of plans that take one thread about
/// as long, the search prefers the one that two threads share evenly: the
/// estimated time grows by this share of the imbalance.
constexpr double pair_weight = 0.1;

/// The larger share of two threads, relative to half of all work.
constexpr double imbalance(const transformed_plan &p) {
  return 2 * p.shared(2).unit_time() / p.unit_time();
}

/// Cost of transforms that take `steps` multiply-adds on a core which starts
/// one vector of 64 bytes in a cycle. Relative to arithmetic, transforms cost
/// more on cores with more or wider vectors, which do not shorten the loads and
/// stores among them.
constexpr double transforming(const tile_limits &t, double steps) {
  const double wide = t.core.vector_rate * t.lanes / 16;
  return wide > 1 ? steps * (1 + t.cost->transform_width_share * (wide - 1))
                  : steps;
}

/// Time of the products of all points, in multiply-adds. `summed` channels are
/// summed at a time, and their weights stay in the first-level cache beside
/// those that are prefetched; each sum is loaded and stored once for each such
/// part. Each strip of tiles reads all weights again, and each run of blocks
/// reads the strip's input, unless the second-level cache holds it. To
/// transform a value costs `transform`, to transform it back costs `back`.
constexpr double transformed_time(tile_limits t, const transformed_plan &p,
                                  int channels, int filters, int summed,
                                  double transform, double back, int P, int B) {
  tile_limits sums = t;
  sums.splits_sums = sums.counts_ends = false;
  const double products =
      double(filters) * channels /
          tiles_efficiency(sums, 1, p.tiles, filters,
                           smaller(channels, summed + weights_ahead(summed)), 1,
                           P, B) +
      transforming(t, t.cost->transformed_sum_cost) * filters *
          ceil_div(channels, summed);
  const double transforms =
      t.lanes * transforming(t, transform * ceil_div(channels, t.lanes) +
                                    back * ceil_div(filters, t.lanes));
  const int strips = ceil_div(p.groups, p.strip_groups);
  // Bytes that are read before the next pass over the runs begins.
  const int passes = strips * (p.points_first ? p.points : 1);
  const double strip_floats = double(p.points) * p.strip_tiles * channels;
  const double weights = double(channels) * filters;
  const double all = p.tiles * products, least = streamed(t, p.tiles) * weights;
  const double bytes = 4 * p.points * weights;
  // Memory bandwidth is lower for several blocks of weights that are read in
  // parallel.
  const double beside =
      bytes > t.core.last_bytes
          ? t.cost->block_stream_share * (B - 1) * t.core.weight_cost * weights
          : 0;
  // Other data needs room in the last-level cache, too.
  const bool near = bytes < t.cost->last_level_share * t.core.last_bytes;
  const double again = near ? refetch_in_order(t) : refetch(t);
  const double time =
      p.points * ((all < least ? least : all) + beside + p.tiles * transforms +
                  again * (strips - 1) * weights) +
      passes * rereads(t, strip_floats * strips / passes, p.runs,
                       t.cost->strip_held_ratio * p.near);
  return time * (1 + pair_weight * (imbalance(p) - 1));
}

/// Returns true if a strip length is worth trying. Strips longer than usual pay
/// if the second-level cache has room for them, and if the last-level cache
/// does not hold the weights, which are then read from memory for each strip.
constexpr bool strips_pay(const tile_limits &t, const transformed_plan &p,
                          double weights) {
  return p.near <= usual_strip * 1024 ||
         (t.cost->strip_room_ratio * p.near <= t.core.level2_bytes &&
          t.core.crowding >= 1 &&
          4 * p.points * weights >
              t.cost->strip_weights_ratio * t.core.level2_bytes);
}

/// Efficiency of conv2d/winograd.h with tiles of M outputs along an axis,
/// register tiles of P tiles by B blocks, `summed` channels summed at a time
/// and strips of `strip` KiB. It is 0 for parameters that other parameters are
/// always as good as.
template <class S>
constexpr double winograd_efficiency(tile_limits t, const S &s, int M, int P,
                                     int B, int summed = winograd_summed,
                                     int strip = usual_strip) {
  const transformed_plan p =
      plan_winograd(s, t.lanes, M, P, B, sizeof(float), strip);
  const bool same = summed > winograd_summed && s.c <= winograd_summed;
  if (same || !strips_pay(t, p, double(s.c) * s.k))
    return 0;
  const double transform =
      t.cost->winograd_axis_cost * ((s.kh > 1) + (s.kw > 1));
  return double(s.n) * s.k * s.oh * s.ow * s.c * s.kh * s.kw /
         transformed_time(t, p, s.c, s.k, summed, transform, transform, P, B);
}

/// Efficiency of conv2d/folded.h. Because there are few channels, the cost
/// includes the calls of register tiles and the gathering of pixels into
/// vectors.
template <class S>
constexpr double folded_winograd_efficiency(tile_limits t, const S &s, int M,
                                            int P, int B) {
  const transformed_plan p = plan_folded_winograd(s, t.lanes, M, P, B);
  const int channels = folded_channels(s);
  const double gather = p.points * channels * t.cost->folded_gather_cycles;
  const double cycles = p.tiles * gather +
                        t.cost->tile_call_cycles * p.groups * p.runs * p.points;
  const double transform = t.cost->folded_transform_cost;
  return double(s.n) * s.k * s.oh * s.ow * s.c * s.kh * s.kw /
         (transformed_time(t, p, channels, s.k, winograd_summed, transform,
                           transform, P, B) +
          t.core.vector_rate * t.lanes * cycles);
}

template <class S>
constexpr transformed_plan plan_strassen_conv2d(const S &s, int L, int W, int P,
                                                int B,
                                                int bytes = sizeof(float)) {
  return plan_strassen(s.n, s.oh * s.ow, s.c, s.k, L, W, P, B, every_pixel(s),
                       bytes);
}
template <class S>
constexpr transformed_plan plan_strassen_matmul(const S &s, int L, int W, int P,
                                                int B,
                                                int bytes = sizeof(float)) {
  return plan_strassen(s.batch, s.m, s.k, s.n, L, W, P, B, false, bytes);
}

/// Efficiency of L levels of Strassen's method for `rows` rows of all images.
/// Forming a value of its sums costs `transform`.
constexpr double strassen_efficiency(tile_limits t, const transformed_plan &p,
                                     int rows, int channels, int filters, int L,
                                     double transform, int P, int B) {
  const double weights = double(channels) * filters;
  const double more = weights * p.points / (1 << 2 * L) - weights;
  return rows * weights /
         (transformed_time(t, p, channels >> L, filters >> L,
                           strassen_summed(L), transform,
                           transform + t.cost->strassen_kept_cost, P, B) +
          evicted(t) * more);
}
template <class S>
constexpr double strassen_conv2d_efficiency(tile_limits t, const S &s, int L,
                                            int P, int B) {
  return strassen_efficiency(t, plan_strassen_conv2d(s, L, t.lanes, P, B),
                             s.n * s.oh * s.ow, s.c, s.k, L,
                             t.cost->strassen_conv_cost + L, P, B);
}
/// Efficiency of Strassen's method for matrix products. Rows of the result lie
/// far apart in memory; cores that start more vectors per cycle hide that
/// latency better. The second level forms more sums than the first.
template <class S>
constexpr double strassen_matmul_efficiency(tile_limits t, const S &s, int L,
                                            int P, int B) {
  const double share = t.core.vector_rate > 1
                           ? t.cost->strassen_matmul_share_fast
                           : t.cost->strassen_matmul_share_slow;
  const double transform = t.cost->strassen_matmul_level_cost * L +
                           t.cost->strassen_matmul_base_cost;
  return share *
         strassen_efficiency(t, plan_strassen_matmul(s, L, t.lanes, P, B),
                             s.batch * s.m, s.k, s.n, L, transform, P, B);
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_TRANSFORMED_H
