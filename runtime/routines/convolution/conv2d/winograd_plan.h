//===- winograd_plan.h - How Winograd's convolution cuts its work ---------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_PLAN_H

#include "runtime/routines/transforms/transformed_plan.h"

namespace nnc {

/// Number of channels that routines without a parameter for it sum at a time.
/// With twice as many, rounding errors are a fifth to a third larger, and
/// routines are a few percent faster.
constexpr int winograd_summed = 32;

/// Outputs of a tile along an axis with `taps` taps.
constexpr int winograd_outputs(int taps, int M) { return taps == 1 ? 1 : M; }

/// Points of a tile: along each axis as many as the inputs that a tile reads,
/// whatever the stride.
template <class S> constexpr int winograd_points(const S &s, int M) {
  return (s.sh * (winograd_outputs(s.kh, M) - 1) + s.kh) *
         (s.sw * (winograd_outputs(s.kw, M) - 1) + s.kw);
}

/// Plan of a convolution whose output is cut into tiles of M x M pixels, with
/// one pixel along an axis of one tap. `bytes` is the size of an element,
/// `strip` that of a strip in KiB.
template <class S>
constexpr transformed_plan plan_winograd(const S &s, int W, int M, int P, int B,
                                         int bytes = sizeof(float),
                                         int strip = usual_strip) {
  return plan_transformed(s.n, ceil_div(s.oh, winograd_outputs(s.kh, M)),
                          ceil_div(s.ow, winograd_outputs(s.kw, M)),
                          winograd_points(s, M), s.c, s.k, W, P, B, bytes,
                          strip);
}

/// Bytes of scratch that conv2d/winograd.h needs for `threads` threads.
template <class S>
constexpr ptrdiff_t winograd_scratch(const S &s, int W, int M, int P, int B,
                                     int threads, int bytes = sizeof(float),
                                     int strip = usual_strip) {
  return plan_winograd(s, W, M, P, B, bytes, strip).scratch(threads);
}

/// Taps along an axis, and channels, once a stride of 2 is folded; see
/// folded.h.
constexpr int folded_taps(int taps) { return ceil_div(taps, 2); }
template <class S> constexpr int folded_channels(const S &s) { return 4 * s.c; }

/// Size of a folded convolution's strip in KiB. It counts transformed inputs
/// only, but with few channels products take most of the cache.
constexpr int folded_strip = 128;

/// Plan of a folded convolution with tiles of M x M pixels.
template <class S>
constexpr transformed_plan plan_folded_winograd(const S &s, int W, int M, int P,
                                                int B,
                                                int bytes = sizeof(float)) {
  const int points = (M + folded_taps(s.kh) - 1) * (M + folded_taps(s.kw) - 1);
  return plan_transformed(s.n, ceil_div(s.oh, M), ceil_div(s.ow, M), points,
                          folded_channels(s), s.k, W, P, B, bytes,
                          folded_strip);
}

/// Bytes of scratch that conv2d/folded.h needs for `threads` threads.
template <class S>
constexpr ptrdiff_t folded_winograd_scratch(const S &s, int W, int M, int P,
                                            int B, int threads,
                                            int bytes = sizeof(float)) {
  return plan_folded_winograd(s, W, M, P, B, bytes).scratch(threads);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_PLAN_H
