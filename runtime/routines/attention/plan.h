//===- plan.h - How online.h cuts attention's work ------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_PLAN_H
#define NNC_ROUTINES_ATTENTION_PLAN_H

#include "runtime/counts.h"

#include <stddef.h>

namespace nnc {

/// The division of attention into units of work. A unit is a group: B vectors
/// of W queries of one head. It processes the keys in blocks, whose scores stay
/// in the first-level cache.
struct attention_plan {
  int head_groups; ///< groups of one head
  int groups;      ///< groups of all heads and images
  int block;       ///< keys of a block
  /// Bytes of the parts of a thread's scratch: transposed queries, a block's
  /// scores, its weights (0 if they replace the scores), and sums of values.
  ptrdiff_t queries, scores, weights, sums;

  /// Bytes of scratch of one thread, a multiple of a cache line, and of
  /// `threads` threads.
  constexpr ptrdiff_t thread_scratch() const {
    return whole_lines(queries + scores + weights + sums);
  }
  constexpr ptrdiff_t scratch(int threads) const {
    return thread_scratch() * smaller(threads, groups);
  }
};

/// Plan for register tiles of M keys (or elements of a value) by B vectors of W
/// elements of `bytes` bytes. Scores and sums are floats. Weights that are
/// floats too replace the scores.
template <class S>
constexpr attention_plan plan_attention(const S &s, int W, int M, int B,
                                        int bytes = sizeof(float)) {
  constexpr int about = 64; // keys of a block
  const ptrdiff_t lanes = ptrdiff_t(B) * W;
  const ptrdiff_t floats = lanes * ptrdiff_t(sizeof(float));
  attention_plan p{};
  p.head_groups = ceil_div(ceil_div(s.queries, W), B);
  p.groups = s.n * s.heads * p.head_groups;
  p.block = smaller(s.keys, larger(1, about / M) * M);
  p.queries = s.dim * lanes * bytes;
  p.scores = p.block * floats;
  p.weights = bytes == sizeof(float) ? 0 : p.block * lanes * bytes;
  p.sums = s.value_dim * floats;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_PLAN_H
