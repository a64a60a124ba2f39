//===- strassen_plan.h - How Strassen's method cuts its work --------------===//
#ifndef NNC_ROUTINES_STRASSEN_PLAN_H
#define NNC_ROUTINES_STRASSEN_PLAN_H

#include "runtime/routines/strassen_matrices.h"
#include "runtime/routines/transformed_plan.h"

namespace nnc {

/// Terms summed in one go.
constexpr int strassen_summed_channels = 128;

/// Whether parts of the left factor can be read where they are: a block's rows
/// lie side by side, and each part has as many.
constexpr bool strassen_in_place(bool side_by_side, int images, int rows,
                                 int levels) {
  return side_by_side && images == 1 && rows % (1 << levels) == 0;
}

/// Products of `rows` by `channels` by `filters`, one an image.
constexpr transformed_plan plan_strassen(int images, int rows, int channels,
                                         int filters, int levels, int W, int P,
                                         int B, bool side_by_side) {
  const int parts = 1 << levels, points = strassen_points(levels);
  transformed_plan p =
      plan_transformed(images, 1, ceil_div(rows, parts), points,
                       channels / parts, filters / parts, W, P, B);
  if (strassen_in_place(side_by_side, images, rows, levels))
    p.inputs = strassen_left_sums(levels, points);
  p.products = strassen_kept(levels);
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_PLAN_H
