//===- shape.h - The shape of roi_align routines --------------------------===//
#ifndef NNC_ROUTINES_REGIONS_ROI_ALIGN_SHAPE_H
#define NNC_ROUTINES_REGIONS_ROI_ALIGN_SHAPE_H

namespace nnc {

/// Regions rois[count][4] of images x[n][c][h][w], resampled to
/// y[count][c][oh][ow]. samples is the number of places along each axis of a
/// bin, or 0 for as many as it has elements. mode: 0 mean, 1 largest.
/// Coordinates are multiplied by `scale`, and with half_pixel moved by half an
/// element.
struct roi_align_shape {
  int n, c, h, w, count, oh, ow, samples, mode, half_pixel;
  float scale;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("c", c);
    f("h", h);
    f("w", w);
    f("count", count);
    f("oh", oh);
    f("ow", ow);
    f("samples", samples);
    f("mode", mode);
    f("half_pixel", half_pixel);
    f("scale", scale);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_REGIONS_ROI_ALIGN_SHAPE_H
