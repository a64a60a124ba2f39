//===- depthwise_plan.h - Tiles of a depthwise convolution in another -----===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/shapes/policy.h"

namespace nnc {

/// Pixels in a tile of the depthwise part of another routine. A row of `ow`
/// pixels is cut into tiles that are as equal as possible, with at most 8.
NNC_FN constexpr int depthwise_columns(int ow) {
  return ceil_div(ow, ceil_div(ow, 8));
}
/// depthwise_columns() of shape S; 8 if S is a run-time shape.
template <class S> NNC_FN constexpr int depthwise_columns_of() {
  if constexpr (is_constant<S>)
    return depthwise_columns(S::ow);
  else
    return 8;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_PLAN_H
