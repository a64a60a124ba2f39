//===- shape.h - The shape of conv_transpose2d routines -------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_SHAPE_H
#define NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_SHAPE_H

namespace nnc {

/// 2-D transposed convolution: x[n][c][h][w], w[c][k/groups][kh][kw] ->
/// y[n][k][oh][ow]. Input row i adds to output rows i*sh + r*dh - pt.
struct conv_transpose2d_shape {
  int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups;

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
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_SHAPE_H
