//===- fpu.h - 2-D convolution in register tiles of single floats ---------===//
//
// The layers of portable.h and nhwc.h for machines without vectors. A tile has
// two neighbouring pixels of a row, or one at the ends of a row, by eight
// channels of the output (KRSC8k); or four pixels by four channels, for
// convolutions with few output channels (KRSC4k). Weights are w[k /
// 8][kh][kw][c][8] for images in NHWC, and w[k / 8][c][kh][kw][8] for planes.
// Depthwise convolutions multiply eight channels of a pixel in NHWC, by
// w[kh][kw][k], and four pixels of a plane, by w[k][kh][kw]. A unit is a row of
// the output. If each pixel of the output reads only the pixel of x at its own
// position, all rows count as one.
//
// A sum adds its products one after the other, so the error is that of a plain
// sum of kh * kw * c products.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_FPU_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_FPU_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/microcontrollers/fpu_tile.h"
#include "runtime/routines/pooling/pool2d/window.h"

namespace nnc {

/// The taps of a tile's windows that lie in the image, and the positions of the
/// first of them: in a plane of x, in pixels, and in the window.
struct float_taps {
  int rows, columns;
  ptrdiff_t pixel;
  int tap;
};
/// Finds the taps of a tile's windows. With IsWhole all taps of a row lie in
/// the image.
template <bool IsWhole, class S>
NNC_INLINE float_taps find_float_taps(const S &s, const float_rows &rows,
                                      int oy, int ox) {
  // A flat row has no padding: its pixel ox is that of x.
  const int top = oy * s.sh - s.pt, left = ox * s.sw - s.pl;
  if (rows.is_flat)
    return {1, 1, left, 0};
  const pool_range down(top, s.dh, s.kh, 0, s.h);
  pool_range across(left, s.dw, s.kw, 0, s.w);
  if (IsWhole)
    across.from = 0, across.to = s.kw;
  return {across.count() > 0 ? down.count() : 0, across.count(),
          ptrdiff_t(top + down.from * s.dh) * s.w + left + across.from * s.dw,
          down.from * s.kw + across.from};
}

/// The routine for images in NHWC (IsNhwc) or planes, with Lanes channels in a
/// tile.
template <bool IsNhwc, int Lanes, class S, int INLINE, class Epi>
struct conv2d_fpu {
  static constexpr int units(const S &s) {
    return s.n * make_float_rows(s).count;
  }

  template <class Y>
  static void run(const S &s, const float *x, const float *w, Y *y,
                  const Epi &epi, int begin, int end) {
    run_filters(s, x, w, y, nullptr, epi, begin, end, all_filters(s));
  }

  /// Computes the channels of some filters. w holds only the weights of these.
  template <class Y>
  static NNC_INLINE void run_filters(const S &s, const float *x, const float *w,
                                     Y *y, unsigned char *, const Epi &epi,
                                     int begin, int end, filter_range filters) {
    const float_rows rows = make_float_rows(s);
    for (int unit = begin; unit < end; ++unit)
      for (int ox = 0; ox < rows.width;) {
        const bool fits = fits_float_tile<points_of_tile>(s, rows, ox);
        const int points = fits ? points_of_tile : 1;
        if (fits || !INLINE)
          run_tile<points_of_tile, INLINE != 0>(s, filters, rows, x, w, y, epi,
                                                unit, ox, points);
        else
          run_tile<1, false>(s, filters, rows, x, w, y, epi, unit, ox, points);
        ox += points;
      }
  }

private:
  static constexpr int points_of_tile = 16 / Lanes;
  using sum = conditional_t<Lanes == 8, eight_floats, four_floats>;
  template <int P, bool IsWhole, class Y>
  static NNC_INLINE void run_tile(const S &s, filter_range filters,
                                  const float_rows &rows, const float *x,
                                  const float *w, Y *y, const Epi &epi,
                                  int unit, int ox, int points) {
    const int n = unit / rows.count, oy = unit % rows.count;
    const float_taps taps = find_float_taps<IsWhole>(s, rows, oy, ox);
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    const bool is_point = s.kh == 1 && s.kw == 1;
    x += n * s.c * plane;
    float_steps steps{};
    if constexpr (IsNhwc) {
      x += taps.pixel * s.c;
      w += ptrdiff_t(taps.tap) * s.c * Lanes;
      // The channels of neighbouring taps are contiguous.
      const bool is_run = s.dw == 1;
      steps.outer = taps.rows;
      steps.middle = is_run ? 1 : taps.columns;
      steps.inner = is_run ? taps.columns * s.c : s.c;
      steps.x_outer = ptrdiff_t(s.dh) * s.w * s.c;
      steps.x_middle = ptrdiff_t(s.dw) * s.c;
      steps.x_inner = 1;
      steps.w_outer = ptrdiff_t(s.kw) * s.c * Lanes;
      steps.w_middle = ptrdiff_t(s.c) * Lanes;
      steps.point = ptrdiff_t(s.sw) * s.c;
    } else {
      x += taps.pixel;
      w += ptrdiff_t(taps.tap) * Lanes;
      steps.outer = taps.rows == 0 ? 0 : is_point ? 1 : s.c;
      steps.middle = is_point ? 1 : taps.rows;
      steps.inner = is_point ? s.c : taps.columns;
      steps.x_outer = plane;
      steps.x_middle = ptrdiff_t(s.dh) * s.w;
      steps.x_inner = is_point ? plane : s.dw;
      steps.w_outer = ptrdiff_t(s.kh) * s.kw * Lanes;
      steps.w_middle = ptrdiff_t(s.kw) * Lanes;
      steps.point = s.sw;
    }
    const ptrdiff_t pixels = ptrdiff_t(s.oh) * s.ow;
    const ptrdiff_t pixel = ptrdiff_t(oy) * s.ow + ox;
    float_results<IsNhwc> to{};
    to.point = IsNhwc ? s.k : 1;
    to.channel = IsNhwc ? 1 : pixels;
    constexpr int unrolled = unrolled_taps<S, !IsNhwc && INLINE && IsWhole>();
    for (int i = 0; i < filters.count; i += Lanes) {
      const int k = filters.first + i;
      to.first = k;
      to.count = smaller(filters.count - i, Lanes);
      to.at = IsNhwc ? (n * pixels + pixel) * s.k + k
                     : (ptrdiff_t(n) * s.k + k) * pixels + pixel;
      compute_tile<INLINE, P, unrolled>(tile_form<float, sum, sum, true>(), x,
                                        w, steps, to, y, epi, points);
      w += ptrdiff_t(s.kh) * s.kw * s.c * Lanes;
    }
  }
};

/// A depthwise convolution in such tiles: s.groups, s.c and s.k are equal.
template <bool IsNhwc, class S, int INLINE, class Epi>
struct conv2d_depthwise_fpu {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const float *x, const float *w, Y *y,
                  const Epi &epi, int begin, int end) {
    const float_rows rows = {s.oh, s.ow, false};
    for (int unit = begin; unit < end; ++unit)
      for (int ox = 0; ox < rows.width;) {
        const bool fits = fits_float_tile<points_of_tile>(s, rows, ox);
        const int points = fits ? points_of_tile : 1;
        if (fits || !INLINE)
          run_tile<points_of_tile, INLINE != 0>(s, rows, x, w, y, epi, unit, ox,
                                                points);
        else
          run_tile<1, false>(s, rows, x, w, y, epi, unit, ox, points);
        ox += points;
      }
  }

private:
  static constexpr int points_of_tile = IsNhwc ? 1 : 4;
  template <int P, bool IsWhole, class Y>
  static NNC_INLINE void
  run_tile(const S &s, const float_rows &rows, const float *x, const float *w,
           Y *y, const Epi &epi, int unit, int ox, int points) {
    const int n = unit / rows.count, oy = unit % rows.count;
    const float_taps taps = find_float_taps<IsWhole>(s, rows, oy, ox);
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w,
                    pixels = ptrdiff_t(s.oh) * s.ow;
    // Elements from a channel to the next, and from a pixel or a tap.
    const ptrdiff_t next = IsNhwc ? s.c : 1;
    float_steps steps{};
    steps.outer = taps.rows;
    steps.middle = 1;
    steps.inner = taps.columns;
    steps.x_outer = s.dh * s.w * next;
    steps.x_inner = s.dw * next;
    steps.w_outer = s.kw * next;
    steps.w_inner = next;
    steps.point = s.sw * next;
    x += n * s.c * plane + taps.pixel * next;
    w += taps.tap * next;
    float_results<IsNhwc> to{};
    const ptrdiff_t pixel = ptrdiff_t(oy) * s.ow + ox;
    to.point = next;
    to.channel = IsNhwc ? 1 : pixels;
    to.at = n * s.c * pixels + pixel * next;
    int c = 0;
    if constexpr (IsNhwc) {
      for (to.count = 8; c + 8 <= s.c; c += 8)
        run_channels<eight_floats, IsWhole>(x, w, steps, to, y, epi, c);
      for (to.count = 4; INLINE && c + 4 <= s.c; c += 4)
        run_channels<four_floats, IsWhole>(x, w, steps, to, y, epi, c);
    }
    constexpr int unrolled = unrolled_taps<S, !IsNhwc && INLINE && IsWhole>();
    for (to.count = 1; c < s.c; ++c) {
      to.first = c;
      compute_tile<INLINE, P, unrolled>(tile_form<float, float, float, false>(),
                                        x, w, steps, to, y, epi, points);
      to.at += to.channel;
      x += IsNhwc ? 1 : plane;
      w += IsNhwc ? 1 : ptrdiff_t(s.kh) * s.kw;
    }
  }

  /// Computes as many channels of a pixel as V has.
  template <class V, bool IsWhole, class Y>
  static NNC_INLINE void
  run_channels(const float *&x, const float *&w, const float_steps &steps,
               float_results<IsNhwc> &to, Y *y, const Epi &epi, int c) {
    to.first = c;
    compute_tile<INLINE, 1, unrolled_taps<S, INLINE && IsWhole>()>(
        tile_form<V, V, V, false>(), x, w, steps, to, y, epi);
    to.at += floats_in<V>;
    x += floats_in<V>;
    w += floats_in<V>;
  }
};

template <class S, int INLINE, class Epi>
using conv2d_f32_nhwc_fpu = conv2d_fpu<true, 8, S, INLINE, Epi>;
template <class S, int INLINE, class Epi>
using conv2d_f32_nhwc_few_fpu = conv2d_fpu<true, 4, S, INLINE, Epi>;
template <class S, int INLINE, class Epi>
using conv2d_f32_nchw_fpu = conv2d_fpu<false, 8, S, INLINE, Epi>;
template <class S, int INLINE, class Epi>
using conv2d_f32_nchw_few_fpu = conv2d_fpu<false, 4, S, INLINE, Epi>;
template <class S, int INLINE, class Epi>
using conv2d_f32_nhwc_depthwise_fpu =
    conv2d_depthwise_fpu<true, S, INLINE, Epi>;
template <class S, int INLINE, class Epi>
using conv2d_f32_nchw_depthwise_fpu =
    conv2d_depthwise_fpu<false, S, INLINE, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_FPU_H
