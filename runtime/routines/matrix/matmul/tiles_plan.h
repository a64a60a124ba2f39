//===- tiles_plan.h - How a product on tile registers is cut --------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_TILES_PLAN_H
#define NNC_ROUTINES_MATRIX_MATMUL_TILES_PLAN_H

#include "runtime/counts.h"

#include <stddef.h>

namespace nnc {

/// The division of a product into strips of rows of the result. Rows of `a` are
/// read in place if they consist of whole steps of 64 bytes and fill a tile.
/// Otherwise those of a strip are copied to scratch: for each step, 64 bytes of
/// each row.
struct matmul_tiles_plan {
  int steps;        ///< steps of 64 bytes along a sum
  int groups;       ///< rows of 64 bytes of a panel of b
  bool in_place;    ///< a is read in place
  int rows;         ///< rows of a strip
  int strips;       ///< strips of a matrix
  ptrdiff_t copied; ///< bytes of the copy of a strip

  /// Returns true if a panel ends within a tile, which may be completed with
  /// zeros in scratch then.
  constexpr bool has_tail() const { return groups % 16 != 0; }
  constexpr ptrdiff_t scratch(int threads) const {
    return (copied + (has_tail() ? 2 * 1024 : 0)) * threads;
  }
};

/// Plan for elements of `bytes` bytes, with strips of about KB * 1024 bytes of
/// a.
template <class S>
constexpr matmul_tiles_plan plan_matmul_tiles(const S &s, int bytes, int KB) {
  const int group = 4 / bytes, step = 64 / bytes;
  matmul_tiles_plan p{};
  p.steps = ceil_div(s.k, step);
  p.groups = ceil_div(s.k, group);
  p.in_place = !s.transpose_a && s.k % step == 0 && s.m >= 16;
  const int fit = larger(32, KB * 1024 / (p.steps * 64) / 32 * 32);
  p.strips = ceil_div(s.m, fit);
  p.rows = ceil_div(ceil_div(s.m, p.strips), 32) * 32;
  p.strips = ceil_div(s.m, p.rows);
  const int tiles = ceil_div(smaller(p.rows, s.m), 16);
  p.copied = p.in_place ? 0 : ptrdiff_t(tiles) * p.steps * 1024;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_TILES_PLAN_H
