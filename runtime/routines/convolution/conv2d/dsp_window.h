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

/// The sizes of a convolution with the place of each output's window.
struct dsp_layer {
  dsp_window window;
  int sh, sw, pt, pl, oh, ow;
};
template <class S> constexpr dsp_layer make_dsp_layer(const S &s) {
  return {make_dsp_window(s), s.sh, s.sw, s.pt, s.pl, s.oh, s.ow};
}

/// The layer of a shape that is constant, in memory that is not written.
template <class S> struct constant_dsp_layer {
  static constexpr dsp_layer layer = make_dsp_layer(S{});
};

/// Calls f(layer) with the sizes of a shape.
template <class S, class F>
NNC_INLINE void with_dsp_layer(const S &s, const F &f) {
  if constexpr (is_constant<S>) {
    f(constant_dsp_layer<S>::layer);
  } else {
    const dsp_layer layer = make_dsp_layer(s);
    f(layer);
  }
}

/// A way to read windows as whole words. A row of a window in the image has
/// `words` of them, `step` bytes apart. The last bytes of a word may belong to
/// other pixels: their weights are zero. The window may begin at a row up to
/// `bottom`, a column up to `right` and a byte up to `latest` of the image, and
/// the next row follows `down` bytes later.
struct dsp_reads {
  int words, step, down, bottom, right, latest;
  explicit dsp_reads(const dsp_window &s) {
    const int c = s.c, lower = s.kh - 1;
    const bool isWhole = s.dw == 1 && (c == 1 || c == 3 || (c & 3) == 0);
    step = c == 3 ? 3 : 4;
    words = c == 3 ? s.kw : (s.kw * c + 3) / 4;
    down = s.dh * s.w * c;
    bottom = s.h - 1 - lower * s.dh;
    right = isWhole ? s.w - s.kw : -1;
    latest = s.h * s.w * c - lower * down - (words - 1) * step - 4;
  }
};

/// Copies a row of a window to a column; returns the column's end.
NNC_INLINE uint32_t *dsp_copy_row(const int8_t *x, int words, int step,
                                  uint32_t *column) {
  uint32_t *const end = column + 4 * words;
  do {
    store_pairs(column, x);
    x += step;
    column += 4;
  } while (column != end);
  return column;
}

/// Copies the taps of the window whose first tap is at (top, left) to `column`.
NNC_ONCE void dsp_gather(const dsp_window &s, const dsp_reads &reads,
                         const int8_t *image, int top, int left,
                         uint32_t *column) {
  const int c = s.c, words = reads.words, step = reads.step;
  const bool isInside = left >= 0 && left <= reads.right;
  if (isInside && top >= 0 && top <= reads.bottom) {
    const int at = (top * s.w + left) * c;
    if (at <= reads.latest) {
      const int8_t *x = image + at;
      for (int i = s.kh; i > 0; --i, x += reads.down)
        column = dsp_copy_row(x, words, step, column);
      return;
    }
  }
  for (int i = 0; i < s.kh; ++i, top += s.dh) {
    const bool outside = top < 0 || top >= s.h;
    const int row = top * s.w * c, at = row + left * c;
    if (isInside && !outside && (c & 3) == 0) {
      column = dsp_copy_row(image + at, words, step, column);
      continue;
    }
    // With a single channel, whole rows are padded to multiples of four.
    const int taps = c == 1 ? 4 : 1;
    for (int j = 0; j < s.kw; j += taps) {
      const int ix = left + j * s.dw;
      if (c == 1) {
        int8_t bytes[4] = {};
        for (int l = 0, to = ix; l < 4 && j + l < s.kw; ++l, to += s.dw)
          bytes[l] =
              outside || to < 0 || to >= s.w ? int8_t(s.fill) : image[row + to];
        store_pairs(column, bytes);
        column += 4;
        continue;
      }
      const bool isFill = outside || ix < 0 || ix >= s.w;
      column = isFill ? dsp_append_fill(column, s.fill, c)
                      : dsp_append_rest(column, image + row + ix * c, c);
    }
  }
}

/// Computes the channels of some filters of rows [begin, end) of the output. w
/// holds only the weights of these filters, `words` words each. `columns` is
/// memory for two columns, and then for two sums of each filter.
NNC_ONCE void dsp_convolve(const dsp_layer &s, const requantization &r,
                           const int8_t *x, const int8_t *w, int8_t *y,
                           uint32_t *columns, int words, filter_range filters,
                           int begin, int end) {
  const int k = s.window.k, first = filters.first, count = filters.count;
  const int image = s.window.h * s.window.w * s.window.c;
  // The filters that are requantized in registers, in twos; the others have
  // their sums stored.
  const int usual = dsp_are_usual_channels(r, first, count) ? count & ~1 : 0;
  const bool isClamped = r.low > -128 || r.high < 127;
  auto *sums = reinterpret_cast<int32_t *>(columns + 4 * words);
  const dsp_reads reads(s.window);
  int oy = begin % s.oh, ox = 0;
  x += begin / s.oh * image;
  y += begin * s.ow * k + first;
  // Pairs of pixels may extend across rows.
  for (int pixels = (end - begin) * s.ow; pixels > 0; pixels -= 2) {
    const int two = pixels == 1 ? 1 : 2;
    for (int i = 0; i < two; ++i) {
      dsp_gather(s.window, reads, x, oy * s.sh - s.pt, ox * s.sw - s.pl,
                 columns + 2 * i);
      if (++ox < s.ow)
        continue;
      ox = 0;
      if (++oy < s.oh)
        continue;
      oy = 0;
      x += image;
    }
    const int8_t *rest = dsp_multiply_store(columns, w, words, r, first, usual,
                                            y, two == 2 ? k : 0);
    if (usual < count) {
      const int rows = (count + 1) / 2 * 2;
      dsp_multiply_two(columns, rest, count - usual, words, sums, rows);
      for (int i = 0; i < two; ++i)
        dsp_requantize(sums + i * rows, first + usual, count - usual, r,
                       y + i * k + usual);
    }
    for (int i = 0; i < two; ++i, y += k)
      if (isClamped)
        dsp_clamp(y, usual, r.low, r.high);
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DSP_WINDOW_H
