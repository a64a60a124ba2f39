//===- tiles_plan.h - How tiles.h cuts attention's work -------------------===//
#ifndef NNC_ROUTINES_ATTENTION_TILES_PLAN_H
#define NNC_ROUTINES_ATTENTION_TILES_PLAN_H

#include "runtime/counts.h"

#include <stddef.h>

namespace nnc {

/// The division of attention on tile registers into units of work: up to ROWS
/// queries of one head. A unit processes the keys in blocks of 64.
struct attention_tiles_plan {
  static constexpr int keys = 64; ///< of a block

  int rows;    ///< queries of a unit, a multiple of 32
  int strips;  ///< units of one head
  int steps;   ///< groups of 32 elements of a query
  int columns; ///< panels of 16 elements of a value, an even number
  /// Bytes of the parts of a thread's scratch: queries, a block's keys and
  /// values in tile order, its weights, sums of values, and two floats for each
  /// query.
  ptrdiff_t query_bytes, key_bytes, value_bytes, weight_bytes, sum_bytes;

  constexpr ptrdiff_t scratch(int threads) const {
    return threads *
           whole_lines(query_bytes + key_bytes + value_bytes + weight_bytes +
                       sum_bytes + rows * ptrdiff_t(2 * sizeof(float)));
  }
};

template <class S>
constexpr attention_tiles_plan plan_attention_tiles(const S &s, int ROWS) {
  attention_tiles_plan p{};
  p.rows = smaller(ROWS, ceil_div(s.queries, 32) * 32);
  p.strips = ceil_div(s.queries, p.rows);
  p.steps = ceil_div(s.dim, 32);
  p.columns = ceil_div(s.value_dim, 32) * 2;
  p.query_bytes = ptrdiff_t(p.rows) * p.steps * 64;
  p.key_bytes = ptrdiff_t(p.steps) * p.keys * 64;
  p.value_bytes = ptrdiff_t(p.columns) * p.keys * 32;
  p.weight_bytes = 32 * p.keys * 2;
  p.sum_bytes = ptrdiff_t(p.rows) * p.columns * 64;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_TILES_PLAN_H
