//===- shape.h - The shape of separable_conv2d routines -------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_SHAPE_H
#define NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_SHAPE_H

namespace nnc {

/// A depthwise convolution followed by a 1 x 1 convolution:
///   z[n][c] = activation(bias[c] + x[n][c] * w[c])
///   y[n][k] = sum over c of z[n][c] * v[k][c]
/// x[n][c][h][w] and the taps w[c][1][kh][kw] make z[n][c][oh][ow] as conv2d
/// does. The activation is an inner_activation of shapes/values.h.
struct separable_conv2d_shape {
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

#endif // NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_SHAPE_H
