//===- convolution.h - Efficiency of convolutions without a transform -----===//
#ifndef NNC_ROUTINES_CATALOGUE_CONVOLUTION_H
#define NNC_ROUTINES_CATALOGUE_CONVOLUTION_H

#include "runtime/routines/catalogue/memory.h"
#include "runtime/routines/convolution/conv2d/shape.h"

namespace nnc {

/// Fraction of the taps along an axis that read the input instead of its
/// padding. The axis has `out` outputs of `taps` taps each; the first tap of
/// the first output lies `before` elements before the input.
constexpr double share_inside(int in, int out, int taps, int stride,
                              int dilation, int before) {
  double met = 0;
  for (int tap = 0; tap < taps; ++tap) {
    const int at = tap * dilation - before;
    const int first = at < 0 ? ceil_div(-at, stride) : 0;
    const int end = at < in ? ceil_div(in - at, stride) : 0;
    met += larger(0, smaller(end, out) - first);
  }
  return met / (double(out) * taps);
}

/// Efficiency of conv2d/fpu.h and conv_transpose2d/fpu.h, which compute
/// `channels` channels in whole tiles of `lanes`. With fewer lanes they load
/// more.
constexpr double float_tile_efficiency(int channels, int lanes, int INLINE) {
  return (INLINE ? 0.4 : 0.36) * (lanes == 8 ? 1 : 0.8) * channels /
         (ceil_div(channels, lanes) * lanes);
}

/// Efficiency of conv2d/direct.h with tiles of R x C pixels by B blocks. It
/// leaves out taps in the padding, which the count of work includes.
template <class S>
constexpr double direct_efficiency(tile_limits t, const S &s, int R, int C,
                                   int B) {
  const double channels = double(s.c) / s.groups, taps = s.kh * s.kw;
  const double part =
      s.c / s.groups % t.lanes ? t.cost->channel_remainder_cost * taps : 0.0;
  const double met = share_inside(s.h, s.oh, s.kh, s.sh, s.dh, s.pt) *
                     share_inside(s.w, s.ow, s.kw, s.sw, s.dw, s.pl);
  return conv2d_with_rereads(
      t, s, B,
      tiles_efficiency(t, s.oh, s.ow, s.k, channels * taps, R, C, B) *
          channels * taps / (channels * taps + part) / met);
}

/// Efficiency of conv2d/first.h. The first and the last tile of a row copy the
/// input that they read.
template <class S>
constexpr double first_efficiency(tile_limits t, const S &s, int C, int B) {
  const int span = (C - 1) * s.sw + (s.kw - 1) * s.dw + 1;
  const int blocks = smaller(B, ceil_div(s.k, t.lanes));
  return tiles_efficiency(t, s.oh, s.ow, s.k, double(s.c) * s.kh * s.kw, 1, C,
                          B) /
         (1 + t.cost->first_copy_cost * span / (double(s.ow) * s.kw * blocks));
}

/// Efficiency of conv2d/pointwise.h. It treats the map as one row if it
/// computes every pixel of the input.
template <class S>
constexpr double pointwise_efficiency(tile_limits t, const S &s, int C, int B) {
  const bool one_row = every_pixel(s);
  return conv2d_with_rereads(t, s, B,
                             tiles_efficiency(t, one_row ? 1 : s.oh,
                                              one_row ? s.oh * s.ow : s.ow, s.k,
                                              double(s.c) / s.groups, 1, C, B));
}

/// Efficiency of conv2d/depthwise.h with tiles of C columns of a row. A core
/// loads as many vectors at a time as it multiplies. While the sums of one tile
/// wait for each other, the core goes on with the next tile, which depends on
/// none of them.
template <class S>
constexpr double depthwise_efficiency(tile_limits t, const S &s, int C) {
  double time = 0;
  for (int i = 0; i < 2; ++i) {
    const int c = i ? s.ow % C : C;
    const int tiles = i ? c != 0 : s.ow / C;
    const int loads = (c - 1) * s.sw + 1 + s.kw;
    const double waits =
        c ? 1 + t.cost->depthwise_wait_share * (1 / chained(t, c) - 1) : 0.0;
    time +=
        c ? tiles * s.kh *
                (larger(c * s.kw, loads) * waits + t.cost->depthwise_row_cost)
          : 0.0;
  }
  return t.cost->peak_share * s.ow * s.kh * s.kw / time * s.k /
         (ceil_div(s.k, t.lanes) * t.lanes);
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_CONVOLUTION_H
