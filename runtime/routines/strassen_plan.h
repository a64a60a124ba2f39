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
                                         int filters, int W, int P, int B) {
  return plan_transformed(images, 1, ceil_div(rows, 2), strassen_products,
                          channels / 2, filters / 2, W, P, B);
}

} // namespace nnc

#endif // NNC_ROUTINES_STRASSEN_PLAN_H
