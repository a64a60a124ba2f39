//===- memory.h - Costs of repeated reads of operands ---------------------===//
//
// All costs are in multiply-adds; see core.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_MEMORY_H
#define NNC_ROUTINES_CATALOGUE_MEMORY_H

#include "runtime/routines/catalogue/tile.h"
#include "runtime/routines/units/caches.h"
#include "runtime/routines/units/thread_ranges.h"

namespace nnc {

/// Cost of rereading a weight that only the last-level cache holds.
constexpr double refetch(const tile_limits &t) {
  return t.cost->refetch_ratio * t.core.exposed_share * t.core.last_cost;
}
/// Cost of rereading a float from the last-level cache if floats are read in
/// the order of their addresses.
constexpr double refetch_in_order(const tile_limits &t) {
  return t.cost->ordered_refetch_ratio * t.core.exposed_share *
         t.core.last_cost;
}
/// Cost of reading a weight from the memory of the model's weights. Meanwhile
/// `tiles` register tiles compute with earlier weights; a part of this
/// arithmetic does not overlap with the read.
constexpr double streamed(const tile_limits &t, int tiles) {
  return t.core.weight_cost +
         t.cost->stream_exposed_ratio * t.core.exposed_share * tiles;
}
/// Cost to other layers of each weight that a method reads in addition to the
/// layer's own weights, because it evicts data of other layers from the
/// last-level cache.
constexpr double evicted(const tile_limits &t) {
  return t.core.crowding * refetch(t);
}

/// Cost of reading `floats` floats `runs` times if a cache near the core holds
/// `held` bytes. The excess is read from the last-level cache in every run
/// except the first.
constexpr double rereads(const tile_limits &t, double floats, int runs,
                         double held = level2_map) {
  return 4 * floats > held ? refetch_in_order(t) * (runs - 1) * floats : 0;
}
/// Efficiency of `work` multiply-adds with reads of `floats` floats in each of
/// `runs` runs. Without rereads it would be `efficiency`.
constexpr double with_rereads(const tile_limits &t, double work,
                              double efficiency, double floats, int runs) {
  return work / (work / efficiency + rereads(t, floats, runs));
}
/// Efficiency of a group of a blocked convolution that would reach `efficiency`
/// without rereads. The group computes B blocks of channels at a time. It
/// rereads its input for each of these or, if the map is divided into strips,
/// its weights for each strip.
template <class S>
constexpr double conv2d_with_rereads(tile_limits t, const S &s, int B,
                                     double efficiency) {
  const double channels = double(s.c) / s.groups;
  const double work =
      double(s.oh) * s.ow * (s.k / s.groups) * channels * s.kh * s.kw;
  // A pixel is read in whole blocks of channels.
  const double floats = double(ceil_div(s.c / s.groups, t.lanes)) * t.lanes *
                        smaller(s.h, s.oh * s.kh) * smaller(s.w, s.ow * s.kw);
  const int runs = ceil_div(ceil_div(s.k / s.groups, t.lanes), B);
  const int strips = strips_of_convolution(s, runs, sizeof(float));
  return strips > 1
             ? with_rereads(t, work, efficiency, work / (s.oh * s.ow), strips)
             : with_rereads(t, work, efficiency, floats, runs);
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_MEMORY_H
