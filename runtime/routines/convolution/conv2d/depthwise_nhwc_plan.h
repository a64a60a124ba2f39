//===- depthwise_nhwc_plan.h - Where depthwise_nhwc.cuh applies -----------===//
//
// The plan of the kernel, for the code that launches it.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_NHWC_PLAN_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
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

/// Threads of a block.
constexpr int depthwise_nhwc_threads = 128;

/// The launch of the kernel.
template <class S>
constexpr launch_size depthwise_nhwc_launch(const S &s, int bytes, int pixels) {
  return {{ceil_div(int(depthwise_nhwc_units(s, bytes, pixels)),
                    depthwise_nhwc_threads),
           1, 1},
          depthwise_nhwc_threads,
          0};
}

/// Share of the work of threads that is not beyond the end of a row. Fewer
/// pixels of a thread share the loads of weights.
template <class S>
constexpr double depthwise_nhwc_share(const S &s, int pixels) {
  return (pixels < 4 ? 0.85 : 1.0) * s.ow / (ceil_div(s.ow, pixels) * pixels);
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
