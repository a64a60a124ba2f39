//===- plan.h - How online.h cuts attention's work ------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_PLAN_H
#define NNC_ROUTINES_ATTENTION_PLAN_H

#include "runtime/routines/policy.h"

#include <cstddef>

namespace nnc {

/// B vectors of W queries are a group, a unit of work. A group meets the keys
/// in blocks, whose scores stay in the first-level cache.
struct attention_plan {
  int head_groups; ///< of one head
  int groups;      ///< in all
  int block;       ///< keys
  /// Bytes of the parts of a thread's scratch: the queries, a block's scores,
  /// the weights that become of them, the sums of values.
  std::ptrdiff_t queries, scores, weights, sums;

  /// Bytes of scratch of one thread, a multiple of a cache line, and of so
  /// many.
  constexpr std::ptrdiff_t thread_scratch() const {
    return whole_lines(queries + scores + weights + sums);
  }
  constexpr std::ptrdiff_t scratch(int threads) const {
    return thread_scratch() * smaller(threads, groups);
  }
};

/// In register tiles of M keys (or elements of a value) by B vectors of numbers
/// of so many bytes. Scores and sums are floats; if weights are, they take the
/// scores' place.
template <class S>
constexpr attention_plan plan_attention(const S &s, int W, int M, int B,
                                        int bytes = sizeof(float)) {
  constexpr int about = 64; // keys of a block
  const std::ptrdiff_t lanes = std::ptrdiff_t(B) * W;
  const std::ptrdiff_t floats = lanes * std::ptrdiff_t(sizeof(float));
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
