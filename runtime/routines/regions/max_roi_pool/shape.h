//===- shape.h - The shape of max_roi_pool routines -----------------------===//
#ifndef NNC_ROUTINES_REGIONS_MAX_ROI_POOL_SHAPE_H
#define NNC_ROUTINES_REGIONS_MAX_ROI_POOL_SHAPE_H

namespace nnc {

/// Regions rois[count][5] of images x[n][c][h][w], whose largest elements are
/// y[count][c][oh][ow]. Coordinates are multiplied by `scale`.
struct max_roi_pool_shape {
  int n, c, h, w, count, oh, ow;
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
    f("scale", scale);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_REGIONS_MAX_ROI_POOL_SHAPE_H
