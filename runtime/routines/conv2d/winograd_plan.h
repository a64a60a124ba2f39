//===- winograd_plan.h - How Winograd's convolution cuts its work ---------===//
#ifndef NNC_ROUTINES_CONV2D_WINOGRAD_PLAN_H
#define NNC_ROUTINES_CONV2D_WINOGRAD_PLAN_H

#include "runtime/routines/transformed_plan.h"

namespace nnc {

/// Terms summed in one go, where a routine has no choice. Sums of twice as many
/// lose a fifth to a third more to rounding, and are a few percent faster.
constexpr int winograd_summed = 32;

/// Outputs along an axis of a tile.
constexpr int winograd_outputs(int taps, int M) { return taps == 1 ? 1 : M; }

/// As many along an axis as inputs, whatever the stride.
template <class S> constexpr int winograd_points(const S &s, int M) {
  return (s.sh * (winograd_outputs(s.kh, M) - 1) + s.kh) *
         (s.sw * (winograd_outputs(s.kw, M) - 1) + s.kw);
}

/// The output is cut into tiles of M x M pixels, one where there is one tap. An
/// element has so many bytes, a strip so many KiB.
template <class S>
constexpr transformed_plan plan_winograd(const S &s, int W, int M, int P, int B,
                                         int bytes = sizeof(float),
                                         int strip = usual_strip) {
  return plan_transformed(s.n, ceil_div(s.oh, winograd_outputs(s.kh, M)),
                          ceil_div(s.ow, winograd_outputs(s.kw, M)),
                          winograd_points(s, M), s.c, s.k, W, P, B, bytes,
                          strip);
}

template <class S>
constexpr std::ptrdiff_t
winograd_scratch(const S &s, int W, int M, int P, int B, int threads,
                 int bytes = sizeof(float), int strip = usual_strip) {
  return plan_winograd(s, W, M, P, B, bytes, strip).scratch(threads);
}

/// Taps of an axis and channels where a stride of 2 is folded; see folded.h.
constexpr int folded_taps(int taps) { return ceil_div(taps, 2); }
template <class S> constexpr int folded_channels(const S &s) { return 4 * s.c; }

/// KiB of a strip: there is more of products than of the few channels' input.
constexpr int folded_strip = 128;

template <class S>
constexpr transformed_plan plan_folded_winograd(const S &s, int W, int M, int P,
                                                int B,
                                                int bytes = sizeof(float)) {
  const int points = (M + folded_taps(s.kh) - 1) * (M + folded_taps(s.kw) - 1);
  return plan_transformed(s.n, ceil_div(s.oh, M), ceil_div(s.ow, M), points,
                          folded_channels(s), s.k, W, P, B, bytes,
                          folded_strip);
}

template <class S>
constexpr std::ptrdiff_t folded_winograd_scratch(const S &s, int W, int M,
                                                 int P, int B, int threads,
                                                 int bytes = sizeof(float)) {
  return plan_folded_winograd(s, W, M, P, B, bytes).scratch(threads);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONV2D_WINOGRAD_PLAN_H
