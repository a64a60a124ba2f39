//===- fused.h - Efficiency of routines that compute two layers -----------===//
#ifndef NNC_ROUTINES_CATALOGUE_FUSED_H
#define NNC_ROUTINES_CATALOGUE_FUSED_H

#include "runtime/routines/catalogue/convolution.h"
#include "runtime/routines/catalogue/transformed.h"
#include "runtime/routines/convolution/expanded_conv2d/plan.h"
#include "runtime/routines/convolution/scaled_conv2d/plan.h"
#include "runtime/routines/convolution/separable_conv2d/plan.h"
#include "runtime/routines/shapes/values.h"

namespace nnc {

/// Cost of a bias and an activation of shapes/values.h between two parts of a
/// layer, in multiply-adds per value.
constexpr double inner_time(const tile_limits &t, int activation) {
  return activation == int(inner_activation::silu)
             ? t.cost->silu_cost
             : t.cost->simple_activation_cost;
}

/// Efficiency of scaled_conv2d/products.h with L levels of Strassen's method.
/// Scaling overlaps with forming Strassen's sums of the scaled values. With L =
/// 0, the scaled values have to be stored and loaded again. The family counts
/// the scaling of a value as one multiply-add.
template <class S>
constexpr double scaled_conv2d_efficiency(tile_limits t, const S &s, int L,
                                          int P, int B) {
  const transformed_plan p = plan_scaled_conv2d(s, L, t.lanes, P, B);
  const double transform =
      L ? t.cost->scaled_sum_cost + L : t.cost->scaled_copy_cost;
  const double product =
      strassen_efficiency(t, p, s.n * s.h * s.w, s.c, s.k, L, transform, P, B);
  // The cost of scaling includes a simple activation.
  const double more = inner_time(t, s.activation) - inner_time(t, 0);
  return (s.k + 1) / (s.k / product + more);
}

/// Efficiency of separable_conv2d/strips.h: the work of both convolutions, in
/// strips of R rows, over the time that they take. Each strip reads all weights
/// of the 1 x 1 part again, from the second-level cache if they fit there
/// beside the strip.
template <class S>
constexpr double separable_efficiency(tile_limits t, const S &s, int R, int C,
                                      int B) {
  const auto first = depthwise_part<S>::of(s);
  const double weights = double(s.c) * s.k;
  const double pixels = double(s.oh) * s.ow;
  const double taps = pixels * s.c * s.kh * s.kw;
  const double again =
      4 * weights > t.cost->separable_near_bytes ? refetch(t) : from_level2(t);
  double time = taps / depthwise_efficiency(t, first, depthwise_columns(s.ow)) +
                inner_time(t, s.activation) * pixels * s.c +
                again * weights * ceil_div(s.oh, R);
  const int parts[] = {s.oh / R * R, s.oh % R};
  for (int rows : parts)
    if (rows > 0)
      time +=
          weights * rows * s.ow /
          tiles_efficiency(t, 1, smaller(R, rows) * s.ow, s.k, s.c, 1, C, B);
  return (taps + pixels * weights) / time;
}

/// Efficiency of expanded_conv2d/rows.h: the work of both convolutions, B
/// blocks at a time, over the time that they take. Tiles of the first
/// convolution end with each row. Rows between both parts that the first-level
/// cache does not hold go to the second-level cache and come back.
template <class S>
constexpr double expanded_efficiency(tile_limits t, const S &s, int C, int B) {
  const expanded_plan p = plan_expanded(s, t.lanes, B);
  const auto second = kept_rows_part<S>::of(s);
  const double pixels = double(s.h) * s.w, sums = pixels * s.c * s.k;
  const double taps = double(s.oh) * s.ow * s.k * s.kh * s.kw;
  const double input = double(ceil_div(s.c, t.lanes)) * t.lanes * pixels;
  const bool near = double(p.thread_scratch()) <= t.cost->expanded_near_bytes;
  const double between =
      inner_time(t, s.activation) +
      (near ? 0.0 : t.cost->expanded_return_cost * t.core.vector_rate);
  const double time =
      sums / tiles_efficiency(t, s.h, s.w, s.k, s.c, 1, C, B) +
      rereads(t, input, p.runs) + between * pixels * s.k +
      taps / depthwise_efficiency(t, second, depthwise_columns(s.ow));
  return (sums + taps) / time;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_FUSED_H
