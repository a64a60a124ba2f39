//===- plan.h - How a separable convolution is cut ------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/depthwise_plan.h"
#include "runtime/routines/shapes/policy.h"

#include <stddef.h>

namespace nnc {

/// Shape of the depthwise part of a separable convolution of shape S, with the
/// fields of conv2d_shape.
template <class S, bool Constant = is_constant<S>> struct depthwise_part {
  static constexpr int n = S::n, c = S::c, h = S::h, w = S::w, k = S::c;
  static constexpr int kh = S::kh, kw = S::kw, sh = S::sh, sw = S::sw;
  static constexpr int dh = S::dh, dw = S::dw, pt = S::pt, pl = S::pl;
  static constexpr int oh = S::oh, ow = S::ow, groups = S::c;
  NNC_FN static constexpr depthwise_part of(const S &) { return {}; }
};
template <class S> struct depthwise_part<S, false> {
  int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups;
  NNC_FN static constexpr depthwise_part of(const S &s) {
    return {s.n,  s.c,  s.h,  s.w,  s.c,  s.kh, s.kw, s.sh,
            s.sw, s.dh, s.dw, s.pt, s.pl, s.oh, s.ow, s.c};
  }
};

/// The division of a separable convolution into units of work. A unit is a
/// strip: some rows of an image, with all channels.
struct separable_plan {
  int image_strips; ///< strips of one image
  int strips;       ///< strips of all images
  ptrdiff_t floats; ///< size of a strip of the depthwise result

  /// Bytes of scratch of one thread, a multiple of a cache line, and of
  /// `threads` threads.
  NNC_FN constexpr ptrdiff_t thread_scratch() const {
    return whole_lines(floats * ptrdiff_t(sizeof(float)));
  }
  NNC_FN constexpr ptrdiff_t scratch(int threads) const {
    return thread_scratch() * smaller(threads, strips);
  }
};

/// Plan for strips of `rows` rows and blocks of W channels.
template <class S>
NNC_FN constexpr separable_plan plan_separable(const S &s, int W, int rows) {
  separable_plan p{};
  p.image_strips = ceil_div(s.oh, rows);
  p.strips = s.n * p.image_strips;
  p.floats = ptrdiff_t(ceil_div(s.c, W)) * W * smaller(rows, s.oh) * s.ow;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_PLAN_H
