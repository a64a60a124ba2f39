//===- shape.h - The shape of conv2d routines -----------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_SHAPE_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_SHAPE_H

#include "runtime/functions.h"

namespace nnc {

/// 2-D convolution: x[n][c][h][w], w[k][c/groups][kh][kw] -> y[n][k][oh][ow].
/// Output row i reads input row i*sh + r*dh - pt for tap r; rows outside the
/// input are zero, or `fill` in sums of integers. Columns likewise.
struct conv2d_shape {
  int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups;
  int fill = 0;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("c", c);
    f("h", h);
    f("w", w);
    f("k", k);
    f("kh", kh);
    f("kw", kw);
    f("sh", sh);
    f("sw", sw);
    f("dh", dh);
    f("dw", dw);
    f("pt", pt);
    f("pl", pl);
    f("oh", oh);
    f("ow", ow);
    f("groups", groups);
    f("fill", fill);
  }
};

/// A range of consecutive filters of a convolution.
struct filter_range {
  int first, count;
};
template <class S> NNC_FN constexpr filter_range all_filters(const S &s) {
  return {0, s.k};
}

/// Returns true if a 1 x 1 convolution of this shape reads all pixels in order.
template <class S> NNC_FN constexpr bool every_pixel(const S &s) {
  return s.sh == 1 && s.sw == 1 && s.oh == s.h && s.ow == s.w;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_SHAPE_H
