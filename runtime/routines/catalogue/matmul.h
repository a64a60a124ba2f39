//===- matmul.h - Efficiency of matrix products and attention -------------===//
#ifndef NNC_ROUTINES_CATALOGUE_MATMUL_H
#define NNC_ROUTINES_CATALOGUE_MATMUL_H

#include "runtime/routines/catalogue/memory.h"
#include "runtime/routines/matrix/matmul/plain_plan.h"

namespace nnc {

/// Efficiency of matmul/packed.h with tiles of M rows by B blocks of columns.
/// It copies rows that map to the same sets of the first-level cache.
template <class S>
constexpr double packed_efficiency(tile_limits t, const S &s, int M, int B) {
  const bool copies = M > 6 && !s.transpose_a && s.k % 1024 == 0;
  const double work = double(s.m) * s.k * s.n;
  const double efficiency =
      tiles_efficiency(t, 1, s.m, s.n, s.k, 1, M, B) /
      (1 +
       (copies ? t.cost->row_copy_cost * t.core.vector_rate * t.lanes : 0.0));
  const int runs = ceil_div(ceil_div(s.n, t.lanes), B);
  return with_rereads(t, work, efficiency, double(s.m) * s.k, runs);
}

/// Efficiency of matmul/codebook.h. Looking up weights takes as long as
/// computing a few additional rows.
template <class S>
constexpr double codebook_efficiency(tile_limits t, const S &s) {
  return t.cost->peak_share * s.m / (s.m + t.cost->codebook_rows);
}

/// Efficiency of block_matmul/registers.h with tiles of M rows by B vectors,
/// which share the decoding of their weights. While the few sums wait for each
/// other, the core decodes weights.
template <class S>
constexpr double block_matmul_efficiency(tile_limits t, const S &s, int M,
                                         int B) {
  const double waiting = s.m / chained(t, double(smaller(M, s.m)) * B);
  const double issued =
      s.m / t.cost->peak_share + ceil_div(s.m, M) * t.cost->block_weights_rows;
  const double columns = ceil_div(s.n, 32) * 32;
  return s.m / (waiting < issued ? issued : waiting) * s.n / columns;
}

/// Efficiency of matmul/plain.h. It copies each element of b once for all m
/// rows, and transposes it if needed. For few rows it reads b in place, from
/// lines that lie far apart.
template <class S>
constexpr double plain_efficiency(tile_limits t, const S &s, int M, int B) {
  const double copy = reads_b_in_place(s, t.lanes, M)
                          ? t.cost->plain_in_place_cost
                      : s.transpose_b ? t.cost->plain_transposed_copy_cost
                                      : t.cost->plain_copy_cost;
  return s.m / (s.m / packed_efficiency(t, s, M, B) + copy);
}

/// Efficiency of attention/online.h: two products of elements of `bytes` bytes,
/// with a column for each query, and an exponential of each score, which is a
/// float. Queries and sums are transposed. Rows whose distance is a multiple of
/// 4 KiB map to the same sets of the first-level cache. That cache then holds
/// at most eight keys, and each tile reads the values from the next level.
template <class S>
constexpr double attention_efficiency(tile_limits t, const S &s, int M, int B,
                                      int bytes = sizeof(float)) {
  const routine_costs &cost = *t.cost;
  const double scores =
      tiles_efficiency(t, 1, s.keys, s.queries, s.dim, 1, M, B);
  const double values =
      tiles_efficiency(t, 1, s.value_dim, s.queries, s.keys, 1, M, B);
  const double exponential =
      cost.attention_exponential_cost * double(sizeof(float)) / bytes;
  const int crowded = 4096 / bytes;
  const bool crowds_keys = M > 8 && s.k_strides[2] % crowded == 0;
  const bool crowds_values = s.v_strides[2] % crowded == 0;
  const double score =
      s.dim / scores * (crowds_keys ? cost.crowded_keys_ratio : 1) +
      s.value_dim / values +
      (crowds_values ? cost.crowded_values_cost * s.value_dim / (M * B) : 0.0);
  const double lanes = double(ceil_div(s.queries, t.lanes)) * t.lanes;
  const double time =
      double(s.queries) * s.keys * score +
      lanes * (exponential * s.keys +
               cost.attention_transpose_cost * (s.dim + s.value_dim));
  return double(s.queries) * s.keys * (s.dim + s.value_dim) / time;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_MATMUL_H
