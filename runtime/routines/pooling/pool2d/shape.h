//===- shape.h - The shape of pool2d routines -----------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_SHAPE_H
#define NNC_ROUTINES_POOLING_POOL2D_SHAPE_H

namespace nnc {

/// 2-D pooling: x[n][c][h][w] -> y[n][c][oh][ow]. Pads are top, left, bottom,
/// right; windows may reach beyond them (ceil mode), and what lies beyond the
/// pads never counts. count_include_pad: an average divides by the window's
/// part inside the padded image instead of the part inside the image.
struct pool2d_shape {
  int n, c, h, w, kh, kw, sh, sw, dh, dw, pt, pl, pb, pr, oh, ow,
      count_include_pad;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("c", c);
    f("h", h);
    f("w", w);
    f("kh", kh);
    f("kw", kw);
    f("sh", sh);
    f("sw", sw);
    f("dh", dh);
    f("dw", dw);
    f("pt", pt);
    f("pl", pl);
    f("pb", pb);
    f("pr", pr);
    f("oh", oh);
    f("ow", ow);
    f("count_include_pad", count_include_pad);
  }
};
using max_pool2d_shape = pool2d_shape;
using avg_pool2d_shape = pool2d_shape;

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_SHAPE_H
