//===- strassen_plan.h - How Strassen's method cuts its work --------------===//
#ifndef NNC_ROUTINES_STRASSEN_PLAN_H
#define NNC_ROUTINES_STRASSEN_PLAN_H

#include "runtime/routines/strassen_matrices.h"
#include "runtime/routines/transformed_plan.h"

namespace nnc {

/// Terms summed in one go.
constexpr int strassen_summed_channels = 64;

/// Products of `rows` by `channels` by `filters`, one an image.
constexpr transformed_plan plan_strassen(int images, int rows, int channels,
                                         int filters, int levels, int W, int P,
                                         int B) {
  const int parts = 1 << levels;
  return plan_transformed(images, 1, ceil_div(rows, parts),
                          strassen_points(levels), channels / parts,
                          filters / parts, W, P, B);
}

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_PLAN_H
