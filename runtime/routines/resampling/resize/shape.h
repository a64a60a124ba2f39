//===- shape.h - The shape of resize routines -----------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_RESIZE_SHAPE_H
#define NNC_ROUTINES_RESAMPLING_RESIZE_SHAPE_H

namespace nnc {

/// Resize of images, x[n][c][h][w] -> y[n][c][oh][ow]. mode: 0 nearest, 1
/// linear, 2 cubic. coord says how an output coordinate maps to the input (ONNX
/// Resize's names): 0 half_pixel, 1 asymmetric, 2 align_corners, 3
/// pytorch_half_pixel, 4 half_pixel_symmetric. nearest: 0 round_prefer_floor, 1
/// round_prefer_ceil, 2 floor, 3 ceil. Scales are output size over input size,
/// and 0 where they follow from the two sizes. cubic_a is the cubic kernel's
/// coefficient; exclude_outside gives taps outside of the image no weight.
struct resize_shape {
  int n, c, h, w, oh, ow, mode, coord, nearest;
  float scale_h, scale_w, cubic_a;
  int exclude_outside;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("c", c);
    f("h", h);
    f("w", w);
    f("oh", oh);
    f("ow", ow);
    f("mode", mode);
    f("coord", coord);
    f("nearest", nearest);
    f("scale_h", scale_h);
    f("scale_w", scale_w);
    f("cubic_a", cubic_a);
    f("exclude_outside", exclude_outside);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_RESIZE_SHAPE_H
