//===- depthwise_plan.h - How another routine cuts a depthwise part -------===//
#ifndef NNC_ROUTINES_CONV2D_DEPTHWISE_PLAN_H
#define NNC_ROUTINES_CONV2D_DEPTHWISE_PLAN_H

#include "runtime/routines/policy.h"

namespace nnc {

/// Pixels of a tile: rows in tiles as even as can be, of 8 at most.
constexpr int depthwise_columns(int ow) {
  return ceil_div(ow, ceil_div(ow, 8));
}
/// The same of a shape S, whose rows may be known when the routine runs only.
template <class S> constexpr int depthwise_columns_of() {
  if constexpr (is_constant<S>)
    return depthwise_columns(S::ow);
  else
    return 8;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONV2D_DEPTHWISE_PLAN_H
