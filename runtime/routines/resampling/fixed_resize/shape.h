//===- shape.h - The shape of fixed_resize routines -----------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_FIXED_RESIZE_SHAPE_H
#define NNC_ROUTINES_RESAMPLING_FIXED_RESIZE_SHAPE_H

namespace nnc {

/// Bilinear interpolation of images of integers, x[n][h][w][c] ->
/// y[n][oh][ow][c], at places in units of 1/1024: output row i lies at step_h *
/// i of the input, or with half_pixel at step_h * (i + 1/2) - 1/2. With
/// `single`, halves are rounded up, else away from zero.
struct fixed_resize_shape {
  int n, h, w, c, oh, ow, step_h, step_w, half_pixel, single;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("h", h);
    f("w", w);
    f("c", c);
    f("oh", oh);
    f("ow", ow);
    f("step_h", step_h);
    f("step_w", step_w);
    f("half_pixel", half_pixel);
    f("single", single);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_FIXED_RESIZE_SHAPE_H
