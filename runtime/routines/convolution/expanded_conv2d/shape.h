//===- shape.h - The shape of expanded_conv2d routines --------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_SHAPE_H
#define NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_SHAPE_H

#include "runtime/routines/convolution/separable_conv2d/shape.h"

namespace nnc {

/// A 1 x 1 convolution followed by a depthwise one:
///   z[n][k] = activation(bias[k] + sum over c of x[n][c] * v[k][c])
///   y[n][k] = z[n][k] * w[k]
/// z[n][k][h][w] and the taps w[k][1][kh][kw] make y[n][k][oh][ow] as conv2d
/// does. The activation is an inner_activation of shapes/values.h.
using expanded_conv2d_shape = separable_conv2d_shape;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_SHAPE_H
