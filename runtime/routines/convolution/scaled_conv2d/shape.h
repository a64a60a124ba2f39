//===- shape.h - The shape of scaled_conv2d routines ----------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_SHAPE_H
#define NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_SHAPE_H

namespace nnc {

/// A 1 x 1 convolution whose input is first scaled channel by channel:
///   z[n][c] = activation(x[n][c] * scale[c] + bias[c])
///   y[n][k] = sum over c of z[n][c] * v[k][c]
/// for images of h x w pixels. The activation is an inner_activation of
/// shapes/values.h.
struct scaled_conv2d_shape {
  int n, c, h, w, k, activation;
  float low, high;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("c", c);
    f("h", h);
    f("w", w);
    f("k", k);
    f("activation", activation);
    f("low", low);
    f("high", high);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_SHAPE_H
