//===- gathered_tiles_plan.h - How windows are gathered for tiles ---------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_GATHERED_TILES_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_GATHERED_TILES_PLAN_H

#include "runtime/counts.h"
#include "runtime/routines/convolution/conv2d/shape.h"

namespace nnc {

/// Strips of the output of a convolution whose taps have few channels. The
/// input of a strip is copied to scratch with its padding, the channels of a
/// pixel side by side. Then the window of each output is gathered: its taps
/// side by side, and zeros up to whole steps of 64 bytes.
struct gathered_tiles_plan {
  int rows, columns;           ///< output pixels of a strip
  int down, across;            ///< strips of an image along each axis
  int row_step, column_step;   ///< pixels of the copy between two outputs
  int copy_rows, copy_columns; ///< pixels of the copy of a strip
  int pixel;                   ///< bytes of a pixel, whole groups of four
  int steps;                   ///< steps of 64 bytes of a window
  int blocks, out_blocks;      ///< blocks of 16 channels of a group
  int images;                  ///< images times groups
  ptrdiff_t panel;             ///< bytes of the weights of 16 channels
  ptrdiff_t copied, gathered;  ///< bytes of the copy, and of the windows

  constexpr int strips() const { return images * down * across; }
  constexpr int units() const { return strips() * ceil_div(out_blocks, 2); }
  /// Bytes of scratch of `threads` threads: the windows, the copy, and the last
  /// steps of two panels.
  constexpr ptrdiff_t scratch(int threads) const {
    return (gathered + copied + (panel % 1024 ? 2 * 1024 : 0)) * threads;
  }
};

/// Plan for elements of `bytes` bytes, with windows of about KB * 1024 bytes.
template <class S>
constexpr gathered_tiles_plan plan_gathered_tiles(const S &s, int bytes,
                                                  int KB) {
  gathered_tiles_plan p{};
  p.images = s.n * s.groups;
  p.pixel = ceil_div(s.c / s.groups * bytes, 4) * 4;
  p.panel = ptrdiff_t(s.kh) * s.kw * p.pixel * 16;
  p.steps = ceil_div(s.kh * s.kw * p.pixel, 64);
  p.blocks = ceil_div(s.c / s.groups, 16);
  p.out_blocks = ceil_div(s.k / s.groups, 16);
  p.row_step = s.kh == 1 ? 1 : s.sh;
  p.column_step = s.kw == 1 ? 1 : s.sw;
  const int windows = larger(32, KB * 1024 / (p.steps * 64));
  p.across = ceil_div(s.ow, windows);
  p.columns = ceil_div(s.ow, p.across);
  p.across = ceil_div(s.ow, p.columns);
  const int rows = smaller(larger(windows / p.columns, 1), s.oh);
  p.down = ceil_div(s.oh, rows);
  p.rows = ceil_div(s.oh, p.down);
  p.down = ceil_div(s.oh, p.rows);
  p.copy_rows = (p.rows - 1) * p.row_step + (s.kh - 1) * s.dh + 1;
  p.copy_columns = (p.columns - 1) * p.column_step + (s.kw - 1) * s.dw + 1;
  p.copied = whole_lines(ptrdiff_t(p.copy_rows) * p.copy_columns * p.pixel);
  p.gathered = ptrdiff_t(ceil_div(p.rows * p.columns, 16)) * 16 * p.steps * 64;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_GATHERED_TILES_PLAN_H
