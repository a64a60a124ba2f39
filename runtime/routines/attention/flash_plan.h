//===- flash_plan.h - Which shapes the attention of CUDA computes ---------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_PLAN_H
#define NNC_ROUTINES_ATTENTION_FLASH_PLAN_H

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

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_PLAN_H
