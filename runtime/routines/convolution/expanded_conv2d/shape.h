//===- shape.h - The shape of expanded_conv2d routines --------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_SHAPE_H
#define NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_SHAPE_H

namespace nnc {

/// A 1 x 1 convolution followed by a depthwise one:
///   z[n][k] = activation(bias[k] + sum over c of x[n][c] * v[k][c])
///   y[n][k] = z[n][k] * w[k]
/// z[n][k][h][w] and the taps w[k][1][kh][kw] make y[n][k][oh][ow] as conv2d
/// does. The activation is an inner_activation of shapes/values.h.
struct expanded_conv2d_shape {
  int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, activation;
  float low, high;

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
    f("activation", activation);
    f("low", low);
    f("high", high);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_SHAPE_H
