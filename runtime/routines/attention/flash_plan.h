//===- flash_plan.h - Which shapes the attention of CUDA computes ---------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_PLAN_H
#define NNC_ROUTINES_ATTENTION_FLASH_PLAN_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"

namespace nnc {

/// Whether the kernels with DIM = `dim` compute a shape: dim and value_dim are
/// at most `dim`, and all rows of q, k, v and y are whole chunks of 16 bytes,
/// of `chunk` elements each.
template <class S>
NNC_FN constexpr bool flash_applies(const S &s, int dim, int chunk = 8) {
  int all = s.dim | s.value_dim | s.q_start | s.k_start | s.v_start;
  for (int i = 0; i < 3; ++i)
    all |= s.q_strides[i] | s.k_strides[i] | s.v_strides[i];
  return all % chunk == 0 && s.dim <= dim && s.value_dim <= dim;
}

/// Keys of a step for which a thread's registers suffice.
NNC_FN constexpr int flash_keys(int dim, int queries) {
  return dim > 64 || queries > 64 ? 32 : 64;
}

/// Bytes of shared memory of a block: two stages of a step of k and v, of which
/// the second one, and what follows it, holds q at first.
constexpr int flash_shared_bytes(int dim, int queries) {
  const int stage = 2 * flash_keys(dim, queries) * dim * 2;
  return stage + larger(stage, queries * dim * 2);
}
/// Bytes of shared memory of a block of floats: q, a step of 32 rows of k, one
/// of v, and the weights of the step.
constexpr int flash_floats_shared_bytes(int dim, int queries) {
  return (queries * dim + 2 * 32 * dim + queries * 32) * 4;
}

/// The grid of a kernel whose blocks have `queries` queries of a head each.
template <class S>
NNC_FN constexpr grid_size flash_grid(const S &s, int queries) {
  return {s.n * s.heads * ceil_div(s.queries, queries), 1, 1};
}

/// The launch of such a kernel.
template <class S>
constexpr launch_size flash_launch(const S &s, int queries, int shared_bytes) {
  return {flash_grid(s, queries), 128, shared_bytes};
}

/// Share of a block's work that is for elements and queries that exist.
template <class S>
constexpr double flash_share(const S &s, int dim, int queries) {
  return double(s.dim + s.value_dim) / (2 * dim) * s.queries /
         (ceil_div(s.queries, queries) * queries);
}

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_PLAN_H
