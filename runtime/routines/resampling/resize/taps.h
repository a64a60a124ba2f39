//===- taps.h - Interpolation taps of one axis ----------------------------===//
//
// The input elements from which an output element of Resize is interpolated
// along one axis, as the ONNX specification defines them. Indices outside of
// the input are clamped; with exclude_outside, cubic taps outside have no
// weight, and the others are scaled up.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_RESIZE_TAPS_H
#define NNC_ROUTINES_RESAMPLING_RESIZE_TAPS_H

#include "runtime/functions.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// The indices and weights of the input elements from which one output element
/// is interpolated.
struct resize_taps {
  int count = 0;
  int index[4] = {};
  float weight[4] = {};

  /// Taps of output element `out`, along an axis of `in` input elements and
  /// `outputs` output elements. `scale` is output size over input size; 0
  /// stands for the ratio of these two sizes.
  template <class S>
  NNC_FN constexpr resize_taps(const S &s, int out, int in, int outputs,
                               float scale) {
    const float at = coordinate(s.coord, out, in, outputs, scale);
    if (s.mode == 0) {
      add(round(s.nearest, at), in, 1.0f);
      return;
    }
    const int low = floor(at);
    const float t = at - static_cast<float>(low);
    if (s.mode == 1) {
      add(low, in, 1.0f - t);
      add(low + 1, in, t);
      return;
    }
    float total = 0.0f;
    for (int i = 0; i < 4; ++i) {
      const int tap = low - 1 + i;
      float share = cubic(t + 1.0f - static_cast<float>(i), s.cubic_a);
      if (s.exclude_outside && (tap < 0 || tap >= in))
        share = 0.0f;
      total += share;
      add(tap, in, share);
    }
    if (s.exclude_outside)
      for (float &share : weight)
        share /= total;
  }

private:
  NNC_FN constexpr void add(int at, int in, float share) {
    index[count] = at < 0 ? 0 : at >= in ? in - 1 : at;
    weight[count++] = share;
  }

  NNC_FN static constexpr int floor(float v) {
    const int whole = static_cast<int>(v);
    return static_cast<float>(whole) > v ? whole - 1 : whole;
  }
  NNC_FN static constexpr int ceil(float v) { return -floor(-v); }

  /// Rounds a coordinate as attribute `nearest` says.
  NNC_FN static constexpr int round(int nearest, float at) {
    switch (nearest) {
    case 0:
      return ceil(at - 0.5f);
    case 1:
      return floor(at + 0.5f);
    case 2:
      return floor(at);
    default:
      return ceil(at);
    }
  }

  /// Output coordinate `x` in input elements. A ratio of the two sizes is
  /// rounded as PyTorch rounds it.
  NNC_FN static constexpr float resize(float x, int in, int outputs,
                                       float scale) {
    return scale > 0.0f
               ? x / scale
               : x * (static_cast<float>(in) / static_cast<float>(outputs));
  }

  /// Input coordinate of output element `out`, for coord = `mode`.
  NNC_FN static constexpr float coordinate(int mode, int out, int in,
                                           int outputs, float scale) {
    const float x = static_cast<float>(out);
    switch (mode) {
    case 1:
      return resize(x, in, outputs, scale);
    case 2:
      return outputs == 1 ? 0.0f
                          : x * static_cast<float>(in - 1) /
                                static_cast<float>(outputs - 1);
    case 3:
      return outputs == 1 ? 0.0f : resize(x + 0.5f, in, outputs, scale) - 0.5f;
    case 4: {
      const float adjust = scale > 0.0f ? static_cast<float>(outputs) /
                                              (scale * static_cast<float>(in))
                                        : 1.0f;
      const float centre = static_cast<float>(in) / 2.0f;
      return centre * (1.0f - adjust) + resize(x + 0.5f, in, outputs, scale) -
             0.5f;
    }
    default:
      return resize(x + 0.5f, in, outputs, scale) - 0.5f;
    }
  }

  /// The cubic convolution kernel (Keys) with coefficient a, at distance d.
  NNC_FN static constexpr float cubic(float d, float a) {
    d = d < 0.0f ? -d : d;
    if (d <= 1.0f)
      return ((a + 2.0f) * d - (a + 3.0f)) * d * d + 1.0f;
    if (d < 2.0f)
      return ((a * d - 5.0f * a) * d + 8.0f * a) * d - 4.0f * a;
    return 0.0f;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_RESIZE_TAPS_H
