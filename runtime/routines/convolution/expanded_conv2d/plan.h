//===- plan.h - How an expanded convolution is cut ------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_PLAN_H

#include "runtime/counts.h"
#include "runtime/routines/convolution/conv2d/depthwise_plan.h"
#include "runtime/routines/shapes/policy.h"

#include <stddef.h>

namespace nnc {

/// Shape of the depthwise part of an expanded convolution of shape S, with the
/// fields of conv2d_shape. Of each input plane only `kept` rows are stored at a
/// time: those that one output row reads.
template <class S, bool Constant = is_constant<S>> struct kept_rows_part {
  static constexpr int n = S::n, c = S::k, h = S::h, w = S::w, k = S::k;
  static constexpr int kh = S::kh, kw = S::kw, sh = S::sh, sw = S::sw;
  static constexpr int dh = S::dh, dw = S::dw, pt = S::pt, pl = S::pl;
  static constexpr int oh = S::oh, ow = S::ow, groups = S::k;
  static constexpr int kept = (S::kh - 1) * S::dh + 1;
  static constexpr kept_rows_part of(const S &) { return {}; }
};
template <class S> struct kept_rows_part<S, false> {
  int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups, kept;
  static constexpr kept_rows_part of(const S &s) {
    return {s.n,
            s.k,
            s.h,
            s.w,
            s.k,
            s.kh,
            s.kw,
            s.sh,
            s.sw,
            s.dh,
            s.dw,
            s.pt,
            s.pl,
            s.oh,
            s.ow,
            s.k,
            (s.kh - 1) * s.dh + 1};
  }
};

/// The division of an expanded convolution into units of work. A unit is one
/// output row of B channel blocks.
struct expanded_plan {
  int runs;         ///< runs of B blocks
  int units;        ///< rows times runs, of all images
  ptrdiff_t floats; ///< size of the 1 x 1 result that is kept

  /// Bytes of scratch of one thread, a multiple of a cache line, and of
  /// `threads` threads.
  constexpr ptrdiff_t thread_scratch() const {
    return whole_lines(floats * ptrdiff_t(sizeof(float)));
  }
  constexpr ptrdiff_t scratch(int threads) const {
    return thread_scratch() * smaller(threads, units);
  }
};

/// Plan for blocks of W channels, B at a time.
template <class S>
constexpr expanded_plan plan_expanded(const S &s, int W, int B) {
  expanded_plan p{};
  p.runs = ceil_div(ceil_div(s.k, W), B);
  p.units = s.n * p.runs * s.oh;
  p.floats = ptrdiff_t(kept_rows_part<S>::of(s).kept) * s.w * W * B;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_PLAN_H
