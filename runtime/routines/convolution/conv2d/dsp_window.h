//===- dsp_window.h - Windows of bytes for Arm's DSP extension ------------===//
//
// Functions of the layers of dsp.h that copy windows. They have run-time
// sizes, so that a module contains them once.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_WINDOW_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_WINDOW_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/microcontrollers/dsp_output.h"
#include "runtime/routines/microcontrollers/dsp_plan.h"
#include "runtime/routines/microcontrollers/dsp_products.h"
#include "runtime/routines/shapes/policy.h"

namespace nnc {

/// The sizes of a convolution as 16-bit run-time values. fits_dsp_window() has
/// checked that they fit.
struct dsp_window {
  int16_t h, w, c, k, kh, kw, dh, dw, fill;
};
template <class S> constexpr dsp_window make_dsp_window(const S &s) {
  return {int16_t(s.h),  int16_t(s.w),  int16_t(s.c),
          int16_t(s.k),  int16_t(s.kh), int16_t(s.kw),
          int16_t(s.dh), int16_t(s.dw), int16_t(s.fill)};
}

/// The sizes of a convolution with the place of each output's window, the words
/// of a column and the constants of the requantization.
struct dsp_layer {
  dsp_window window;
  int16_t sh, sw, pt, pl, oh, ow, words;
  int8_t zero, low, high;
};
template <class Form, class S> constexpr dsp_layer make_dsp_layer(const S &s) {
  return {make_dsp_window(s), int16_t(s.sh),
          int16_t(s.sw),      int16_t(s.pt),
          int16_t(s.pl),      int16_t(s.oh),
          int16_t(s.ow),      int16_t(plan_conv2d_dsp(s).words),
          int8_t(Form::zero), int8_t(Form::low),
          int8_t(Form::high)};
}

/// The layer of a shape that is constant, in memory that is not written.
template <class S, class Form> struct constant_dsp_layer {
  static constexpr dsp_layer layer = make_dsp_layer<Form>(S{});
};

/// Calls f(layer) with the sizes of a shape and the constants of an epilogue
/// for which requantizes<Epi> holds.
template <class Epi, class S, class F>
NNC_INLINE void with_dsp_layer(const S &s, const F &f) {
  using form = typename requantizes<Epi>::form;
  if constexpr (is_constant<S>) {
    f(constant_dsp_layer<S, form>::layer);
  } else {
    const dsp_layer layer = make_dsp_layer<form>(s);
    f(layer);
  }
}

/// Copies words, `step` bytes apart, to a column up to `end`; returns this.
NNC_INLINE uint32_t *dsp_copy_words(const int8_t *x, int step, uint32_t *column,
                                    uint32_t *end) {
  NNC_KEEP_LOOP for (; column != end; column += 4, x += step)
      store_pairs(column, x);
  return end;
}

/// Copies the taps of a row of a window to a column, tap by tap; returns the
/// column's end. The first tap is at x, in column `left` of the image, of which
/// `columns` columns can be read: none if the row lies outside of the image.
NNC_ONCE uint32_t *dsp_gather_taps(const dsp_window &s, const int8_t *x,
                                   int columns, int left, uint32_t *column) {
  const int c = s.c, whole = c & ~3, taps = c == 1 ? 4 : 1;
  const int next = c == 1 ? s.dw : 1; // from a byte of a word to the next one
  const auto fill = int8_t(s.fill);
  // The whole words of a tap, then the bytes of one tap or of four taps.
  for (int j = s.kw; j > 0; j -= taps) {
    int8_t bytes[4] = {fill, fill, fill, fill};
    const bool isPixel = unsigned(left) < unsigned(columns);
    column = dsp_copy_words(isPixel ? x : bytes, isPixel ? 4 : 0, column,
                            column + whole);
    const int count = c != 1 ? c - whole : j < 4 ? j : 4;
    if (count > 0) {
      for (int i = 0; i < count; ++i)
        if (unsigned(c == 1 ? left + i * next : left) < unsigned(columns))
          bytes[i] = x[whole + i * next];
      store_pairs(column, bytes);
      column += 4;
    }
    left += taps * s.dw;
    x += taps * s.dw * c;
  }
  return column;
}

/// Copies the taps of the window whose first tap is at (top, left) to `column`.
/// The channels of each tap, or the taps of a row of a single channel, are
/// padded to whole words with bytes whose weights are zero.
NNC_ONCE void dsp_gather(const dsp_window &s, const int8_t *image, int top,
                         int left, uint32_t *column) {
  const int c = s.c;
  // Windows that lie in the image are read as words where the taps have no
  // gaps, unless a last word might end after the image: then some pixels have
  // to follow the window.
  int words = s.kw * c >> 2, step = 4, right = s.w - s.kw;
  if ((c & 3) != 0) {
    step = c == 3 ? 3 : 4;
    words = c == 3 ? s.kw : (s.kw + 3) >> 2;
    right = c == 3 ? right - 1 : c == 1 ? s.w - 4 * words : -1;
  }
  if (s.dw != 1)
    right = -1;
  const int dh = s.dh, down = dh * s.w * c, h = s.h;
  const int8_t *x = image + (top * s.w + left) * c;
  const bool isInside =
      left >= 0 && left <= right && top >= 0 && top + (s.kh - 1) * dh < h;
  for (int i = s.kh; i > 0; --i, x += down)
    if (isInside) {
      column = dsp_copy_words(x, step, column, column + 4 * words);
    } else {
      column = dsp_gather_taps(s, x, unsigned(top) < unsigned(h) ? s.w : 0,
                               left, column);
      top += dh;
    }
}

/// Computes the channels of some filters of rows [begin, end) of the output.
/// The weights, the numbers of the requantization and y are those of the first
/// of these `count` filters. `columns` is memory for two columns, and then for
/// two sums of each filter.
NNC_ONCE void dsp_convolve(const dsp_layer &s, const int32_t *bias,
                           const int32_t *multiplier, const int32_t *shift,
                           const int8_t *x, const int8_t *w, int8_t *y,
                           uint32_t *columns, int count, int begin, int end) {
  const int k = s.window.k, image = s.window.h * s.window.w * s.window.c;
  // The filters that are requantized in registers, in twos; the others have
  // their sums stored.
  const int usual =
      dsp_are_usual_channels(multiplier, shift, count) ? count & ~1 : 0;
  const int left = count - usual;
  const bool isClamped = s.low > -128 || s.high < 127;
  const requantization r = {bias, multiplier, shift, s.zero, s.low, s.high};
  int oy = begin % s.oh, ox = 0;
  x += begin / s.oh * image;
  y += begin * s.ow * k;
  // Pairs of pixels may extend across rows.
  for (int pixels = (end - begin) * s.ow; pixels > 0; pixels -= 2) {
    const int step = pixels == 1 ? 0 : k;
    for (int i = 0; i <= step; i += k) {
      dsp_gather(s.window, x, oy * s.sh - s.pt, ox * s.sw - s.pl,
                 i == 0 ? columns : columns + 2);
      if (++ox < s.ow)
        continue;
      ox = 0;
      if (++oy < s.oh)
        continue;
      oy = 0;
      x += image;
    }
    const int8_t *rest =
        dsp_multiply_store(columns, w, s.words, r, usual, y, step);
    int32_t *sums = reinterpret_cast<int32_t *>(columns + 4 * s.words);
    const int rows = (left + 1) & ~1;
    if (left > 0)
      dsp_multiply_two(columns, rest, rows, s.words, sums, rows);
    for (int i = 0; i <= step; i += k, y += k, sums += rows) {
      if (left > 0)
        dsp_requantize(sums, usual, left, r, y + usual);
      if (isClamped)
        dsp_clamp(y, usual, s.low, s.high);
    }
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_WINDOW_H
