//===- strassen_plan.h - How Strassen's method cuts its work --------------===//
#ifndef NNC_ROUTINES_TRANSFORMS_STRASSEN_PLAN_H
#define NNC_ROUTINES_TRANSFORMS_STRASSEN_PLAN_H

#include "runtime/routines/transforms/strassen_matrices.h"
#include "runtime/routines/transforms/transformed_plan.h"

namespace nnc {

/// Number of channels that are summed at a time, for elements of `bytes` bytes.
/// Without levels for f32, and always for f16, it is the same as in other
/// routines.
constexpr int strassen_summed(int levels, int bytes = sizeof(float)) {
  return bytes < int(sizeof(float)) ? 64 : levels ? 128 : 512;
}

/// Returns true if parts of the left factor are read in place. The layout must
/// allow it (`possible`), there must be one image, and all parts must have the
/// same number of rows.
constexpr bool strassen_in_place(bool possible, int images, int rows,
                                 int levels) {
  return possible && images == 1 && rows % (1 << levels) == 0;
}

/// Plan for a product of `rows` x `channels` by `channels` x `filters` for each
/// image, with `levels` levels of Strassen's method. `in_place` says that the
/// rows of a channel block are contiguous, so that parts of the left factor can
/// be read where they are. The other parameters are those of
/// plan_transformed().
constexpr transformed_plan plan_strassen(int images, int rows, int channels,
                                         int filters, int levels, int W, int P,
                                         int B, bool in_place,
                                         int bytes = sizeof(float)) {
  const int parts = 1 << levels, points = strassen_points(levels);
  transformed_plan p =
      plan_transformed(images, 1, ceil_div(rows, parts), points,
                       channels / parts, filters / parts, W, P, B, bytes);
  if (strassen_in_place(in_place, images, rows, levels))
    p.inputs = strassen_left_sums(levels, points);
  p.products = strassen_kept(levels);
  p.sums_points = true;
  p.cut_strips();
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_TRANSFORMS_STRASSEN_PLAN_H
