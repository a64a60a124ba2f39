//===- int24_plan.h - Weights of 24 bits and their scales -----------------===//
#ifndef NNC_ROUTINES_MATMUL_INT24_PLAN_H
#define NNC_ROUTINES_MATMUL_INT24_PLAN_H

#include "runtime/routines/policy.h"

namespace nnc {

/// So many weights of a column, one below the other, share a scale.
constexpr int int24_group = 512;

/// The largest integer, which the largest magnitude of a group becomes.
constexpr int int24_most = (1 << 23) - 1;

/// What f32x<W>::load_int24() multiplies an integer by.
constexpr float int24_unit = 256;

/// Of a group whose largest magnitude is `most`: what an integer stands for.
/// Where that would be no normal number, all weights are taken for zeros.
constexpr float int24_scale(float most) {
  const float scale = most / float(int24_most);
  return scale < 0x1p-100f ? 0.0f : scale;
}

/// Bytes of a panel of W columns of k weights: [group][k of the group][W] of
/// three bytes, and behind each group [W] scales over int24_unit.
constexpr std::ptrdiff_t int24_panel(int k, int W) {
  return (std::ptrdiff_t(k) * 3 + ceil_div(k, int24_group) * 4) * W;
}

/// Root mean square of what rounding does to weights of a normal distribution,
/// of which the largest of a group is about 3.5 times the deviation.
constexpr double int24_error = 1.2e-7;

} // namespace nnc

#endif // NNC_ROUTINES_MATMUL_INT24_PLAN_H
