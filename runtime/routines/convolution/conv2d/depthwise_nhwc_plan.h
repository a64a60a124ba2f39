//===- depthwise_nhwc_plan.h - Where depthwise_nhwc.cuh applies -----------===//
//
// The plan of the kernel, for the code that launches it.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"

namespace nnc {

/// Number of threads that have work: each has the channels of 16 bytes, of
/// elements of `bytes` bytes, in `pixels` consecutive pixels of an output row.
template <class S>
NNC_FN constexpr long long depthwise_nhwc_units(const S &s, int bytes,
                                                int pixels) {
  return static_cast<long long>(s.n) * s.oh * ceil_div(s.ow, pixels) *
         (s.c / (16 / bytes));
}

/// Returns true if the kernel can compute a convolution of this shape. x, w, y
/// and the operands of the epilogue are 16-byte aligned.
template <class S>
NNC_FN constexpr bool depthwise_nhwc_applies(const S &s, int bytes) {
  return s.groups == s.c && s.k == s.c && s.c % (16 / bytes) == 0 &&
         depthwise_nhwc_units(s, bytes, 1) < (1ll << 31) - 1024;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_PLAN_H
