//===- integers_depthwise_plan.h - Lines of a depthwise convolution -------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_PLAN_H

#include "runtime/counts.h"

namespace nnc {

/// Columns of the line that the taps of an output row read.
template <class S> constexpr int integers_depthwise_columns(const S &s) {
  return (s.ow - 1) * s.sw + (s.kw - 1) * s.dw + 1;
}

/// Bytes of the lines of an output row. Each line has W channels and holds G
/// rows of the input.
template <class S>
constexpr ptrdiff_t integers_depthwise_lines(const S &s, int W, int G) {
  return whole_lines(ptrdiff_t(ceil_div(s.kh, G)) *
                     integers_depthwise_columns(s) * W * 4);
}

/// Bytes of scratch of `threads` threads: the lines, and a row that is used for
/// rows outside of the input.
template <class S>
constexpr ptrdiff_t integers_depthwise_scratch(const S &s, int W, int G,
                                               int threads) {
  return (integers_depthwise_lines(s, W, G) + whole_lines(ptrdiff_t(s.w) * W)) *
         threads;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_PLAN_H
