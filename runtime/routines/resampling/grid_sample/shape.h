//===- shape.h - The shape of grid_sample routines ------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_GRID_SAMPLE_SHAPE_H
#define NNC_ROUTINES_RESAMPLING_GRID_SAMPLE_SHAPE_H

namespace nnc {

/// Values y[n][c][od][oh][ow] of images x[n][c][d][h][w] at the places
/// grid[n][od][oh][ow][rank], whose last axis holds w, h and, with a rank of 3,
/// d; with a rank of 2, d and od are 1. mode: 0 nearest, 1 linear, 2 cubic;
/// padding: 0 zeros, 1 border, 2 reflection. With align_corners -1 and 1 are
/// the centres of the elements at the ends, else their outer edges.
struct grid_sample_shape {
  int rank, n, c, d, h, w, od, oh, ow, mode, padding, align_corners;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rank", rank);
    f("n", n);
    f("c", c);
    f("d", d);
    f("h", h);
    f("w", w);
    f("od", od);
    f("oh", oh);
    f("ow", ow);
    f("mode", mode);
    f("padding", padding);
    f("align_corners", align_corners);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_GRID_SAMPLE_SHAPE_H
