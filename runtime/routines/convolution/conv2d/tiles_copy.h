//===- tiles_copy.h - The input of a strip, for tile registers ------------===//
//
// Copies the input of a strip of outputs, in NCHW16c, to pixels of 64 bytes in
// the order of tiles_plan.h. The last channels of a tap stand at the end of a
// pixel, behind zeros.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_COPY_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_COPY_H

#include "runtime/routines/convolution/conv2d/tiles_plan.h"
#include "runtime/simd/unroll.h"

#include <string.h>

namespace nnc {

/// Copies COUNT blocks of 16 channels of each of `pixels` pixels, 64 bytes of
/// the copy to a pixel. In x, blocks are `plane` and pixels `step` elements
/// apart. Bytes of the copy behind the last block are not set.
template <int COUNT, class X>
inline void copy_pixels(X *to, const X *x, ptrdiff_t plane, ptrdiff_t step,
                        int pixels) {
  constexpr int channels = 64 / int(sizeof(X));
  NNC_KEEP_LOOP for (int i = 0; i < pixels; ++i) {
    NNC_UNROLL for (int b = 0; b < COUNT; ++b)
        memcpy(static_cast<void *>(to + b * 16), x + b * plane, 16 * sizeof(X));
    to += channels;
    x += step;
  }
}

/// The channels of a pixel of the copy: `zeros` zeros, then `set` channels,
/// then zeros.
struct pixel_parts {
  int zeros, set;
};

/// Copies one row of a phase: `pixels` pixels of a group of channels, from the
/// row of x whose first pixel is column `from`. x is null for a row of padding.
template <class X>
inline void copy_row(const conv2d_tiles_plan &p, X *to, const X *x, int from,
                     int step, int pixels, pixel_parts parts, X fill) {
  constexpr int channels = 64 / int(sizeof(X)), blocks = channels / 16;
  const ptrdiff_t plane = ptrdiff_t(p.height) * p.width * 16;
  const auto put_fill = [&](int first, int end) {
    for (int i = first; i < end; ++i)
      for (int c = 0; c < channels; ++c)
        to[i * channels + c] =
            c < parts.zeros || c - parts.zeros >= parts.set ? X(0) : fill;
  };
  int first = 0, last = 0;
  if (x) {
    first = smaller(pixels, from < 0 ? ceil_div(-from, step) : 0);
    last = from >= p.width ? 0 : ceil_div(p.width - from, step);
    last = larger(first, smaller(last, pixels));
  }
  put_fill(0, first);
  put_fill(last, pixels);
  if (first == last)
    return;
  const X *start = x + (ptrdiff_t(from) + ptrdiff_t(first) * step) * 16;
  X *copy = to + first * channels;
  if (parts.set == channels)
    return copy_pixels<blocks>(copy, start, plane, ptrdiff_t(step) * 16,
                               last - first);
  memset(static_cast<void *>(copy), 0, size_t(last - first) * 64);
  for (int i = first; i < last; ++i) {
    for (int c = 0; c < parts.set; c += 16)
      memcpy(static_cast<void *>(copy + parts.zeros + c),
             start + c / 16 * plane,
             size_t(smaller(16, parts.set - c)) * sizeof(X));
    copy += channels;
    start += ptrdiff_t(step) * 16;
  }
}

/// Copies the input of the strip of rows x columns outputs whose first output
/// is (row, column). x is the input of a group of an image.
template <class S, class X>
NNC_NOINLINE void copy_strip(const S &s, const conv2d_tiles_plan &p, const X *x,
                             int row, int column, int rows, int columns,
                             X *copy) {
  constexpr int channels = 64 / int(sizeof(X));
  const int copy_rows = rows + (s.kh - 1) * s.dh / s.sh;
  const int pixels = columns + (s.kw - 1) * s.dw / s.sw;
  const ptrdiff_t line = ptrdiff_t(p.width) * 16, plane = line * p.height;
  for (int g = 0; g < p.groups; ++g) {
    pixel_parts parts{0, channels};
    if (g == p.groups - 1) {
      parts.zeros = (p.groups * 16 - p.words) * 4 / int(sizeof(X));
      parts.set = s.c / s.groups - g * channels;
    }
    for (int phase = 0; phase < p.phase_rows * p.phase_columns; ++phase) {
      X *to = copy + (g * p.group + phase * p.plane) / int(sizeof(X));
      const int from_row = phase / p.phase_columns - s.pt;
      const int from = column * s.sw + phase % p.phase_columns - s.pl;
      for (int r = 0; r < copy_rows; ++r) {
        const int at = (row + r) * s.sh + from_row;
        const X *start = at < 0 || at >= p.height
                             ? nullptr
                             : x + g * (channels / 16) * plane + at * line;
        copy_row(p, to, start, from, s.sw, pixels, parts,
                 static_cast<X>(s.fill));
        to += ptrdiff_t(p.pitch) * channels;
      }
    }
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_COPY_H
