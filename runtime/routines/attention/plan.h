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
  /// Floats of the parts of a thread's scratch: the queries, a block's scores,
  /// the sums of values.
  std::ptrdiff_t queries, scores, sums;

  /// Bytes of scratch of one thread, a multiple of a cache line, and of so
  /// many.
  constexpr std::ptrdiff_t thread_scratch() const {
    return whole_lines((queries + scores + sums) *
                       std::ptrdiff_t(sizeof(float)));
  }
  constexpr std::ptrdiff_t scratch(int threads) const {
    return thread_scratch() * smaller(threads, groups);
  }
};

/// In register tiles of M keys (or elements of a value) by B vectors.
template <class S>
constexpr attention_plan plan_attention(const S &s, int W, int M, int B) {
  constexpr int about = 64; // keys of a block
  attention_plan p{};
  p.head_groups = ceil_div(ceil_div(s.queries, W), B);
  p.groups = s.n * s.heads * p.head_groups;
  p.block = smaller(s.keys, larger(1, about / M) * M);
  p.queries = std::ptrdiff_t(s.dim) * B * W;
  p.scores = std::ptrdiff_t(p.block) * B * W;
  p.sums = std::ptrdiff_t(s.value_dim) * B * W;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_PLAN_H
