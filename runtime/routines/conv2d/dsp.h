//===- dsp.h - 2-D convolution of bytes with Arm's DSP extension ----------===//
//
// The layer of nhwc.h on x[n][h][w][c] of i8. The window of each of two pixels
// of a row is copied to a column of pairs, which all filters read. Weights of
// filters in twos are w[k / 2][kh][kw][c / 4][2][4]; those of depthwise
// convolutions are w[kh][kw][k]. A unit is a row of the output.
//
// What takes most of the time has run-time sizes and is shared by all layers of
// a module; a layer's own code stores the results.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONV2D_DSP_H
#define NNC_ROUTINES_CONV2D_DSP_H

#include "runtime/epilogue.h"
#include "runtime/routines/dsp_plan.h"
#include "runtime/routines/dsp_products.h"

namespace nnc {

/// The sizes of a convolution as run-time values, short ones.
struct dsp_window {
  int16_t h, w, c, k, kh, kw, dh, dw, fill;
};
template <class S> constexpr dsp_window make_dsp_window(const S &s) {
  return {int16_t(s.h),  int16_t(s.w),  int16_t(s.c),
          int16_t(s.k),  int16_t(s.kh), int16_t(s.kw),
          int16_t(s.dh), int16_t(s.dw), int16_t(s.fill)};
}

/// Copies the window whose first tap is at (top, left) to a column.
NNC_NOINLINE inline void dsp_gather(const dsp_window &s, const int8_t *image,
                                    int top, int left, uint32_t *column) {
  const int c = s.c;
  for (int i = 0; i < s.kh; ++i) {
    const int iy = top + i * s.dh;
    const bool outside = iy < 0 || iy >= s.h;
    const int8_t *row = image + iy * s.w * c;
    const bool whole = !outside && left >= 0 && s.dw == 1 &&
                       left + s.kw <= s.w && (c & 3) == 0;
    if (whole) {
      column = dsp_append(column, row + left * c, s.kw * c);
      continue;
    }
    for (int j = 0; j < s.kw; ++j) {
      const int ix = left + j * s.dw;
      column = outside || ix < 0 || ix >= s.w
                   ? dsp_append_fill(column, s.fill, c)
                   : dsp_append_rest(column, row + ix * c, c);
    }
  }
}

template <class S, class Epi> struct conv2d_i32_nhwc_armdsp {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const int8_t *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const dsp_plan p = plan_conv2d_dsp(s);
    const dsp_window window = make_dsp_window(s);
    auto *columns = reinterpret_cast<uint32_t *>(scratch);
    auto *sums = reinterpret_cast<int32_t *>(scratch + 2 * p.column_bytes());
    const int step = 2 * p.words;
    for (int unit = begin; unit < end; ++unit) {
      const int top = unit % s.oh * s.sh - s.pt;
      const int8_t *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.k;
      for (int ox = 0; ox < s.ow; ox += 2) {
        const int pixels = s.ow - ox < 2 ? 1 : 2;
        for (int i = 0; i < pixels; ++i)
          dsp_gather(window, image, top, (ox + i) * s.sw - s.pl,
                     columns + i * step);
        dsp_multiply_two(columns, step, w, s.k, p.words, sums, p.rows);
        for (int i = 0; i < pixels; ++i)
          for (int k = 0; k < s.k; ++k, ++at)
            y[at] = epi(sums[i * p.rows + k], position<true>{at, k});
      }
    }
  }
};

/// Computes the sums of all channels, a multiple of four, of a pixel of a
/// depthwise convolution.
NNC_NOINLINE inline void dsp_depthwise(const dsp_window &s, const int8_t *image,
                                       const int8_t *w, int top, int left,
                                       int32_t *sums) {
  const int c = s.c;
  // The taps inside of the image.
  int i0 = 0, i1 = s.kh, j0 = 0, j1 = s.kw;
  while (i0 < i1 && top + i0 * s.dh < 0)
    ++i0;
  while (i1 > i0 && top + (i1 - 1) * s.dh >= s.h)
    --i1;
  while (j0 < j1 && left + j0 * s.dw < 0)
    ++j0;
  while (j1 > j0 && left + (j1 - 1) * s.dw >= s.w)
    --j1;
  const bool isWhole = i1 - i0 == s.kh && j1 - j0 == s.kw;
  const int across = s.dw * c, down = (s.dh * s.w - (j1 - j0) * s.dw) * c;
  const int skip = (s.kw - (j1 - j0)) * c;
  const int8_t *first =
      image + ((top + i0 * s.dh) * s.w + left + j0 * s.dw) * c;
  const int8_t *taps = w + (i0 * s.kw + j0) * c;
  for (int k = 0; k < c; k += 4, sums += 4) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const int8_t *p = first + k, *q = taps + k;
    for (int i = i0; i < i1; ++i, p += down, q += skip)
      for (int j = j0; j < j1; ++j, p += across, q += c) {
        const uint32_t a = load_word(p), b = load_word(q);
        const uint32_t ae = even_bytes(a), be = even_bytes(b);
        s0 = add_low_product(s0, ae, be);
        s2 = add_high_product(s2, ae, be);
        const uint32_t ao = odd_bytes(a), bo = odd_bytes(b);
        s1 = add_low_product(s1, ao, bo);
        s3 = add_high_product(s3, ao, bo);
      }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
    if (isWhole || s.fill == 0)
      continue;
    for (int i = 0; i < s.kh; ++i)
      for (int j = 0; j < s.kw; ++j)
        if (i < i0 || i >= i1 || j < j0 || j >= j1)
          for (int l = 0; l < 4; ++l)
            sums[l] += s.fill * w[(i * s.kw + j) * c + k + l];
  }
}

template <class S, class Epi> struct conv2d_i32_nhwc_depthwise_armdsp {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const int8_t *x, const int8_t *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const dsp_window window = make_dsp_window(s);
    auto *sums = reinterpret_cast<int32_t *>(scratch);
    for (int unit = begin; unit < end; ++unit) {
      const int top = unit % s.oh * s.sh - s.pt;
      const int8_t *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.k;
      for (int ox = 0; ox < s.ow; ++ox) {
        dsp_depthwise(window, image, w, top, ox * s.sw - s.pl, sums);
        for (int k = 0; k < s.k; ++k, ++at)
          y[at] = epi(sums[k], position<true>{at, k});
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONV2D_DSP_H
