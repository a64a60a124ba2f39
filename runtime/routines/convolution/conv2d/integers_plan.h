//===- integers_plan.h - How a convolution of integers is cut -------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_PLAN_H

#include "runtime/counts.h"
#include "runtime/routines/convolution/conv2d/shape.h"

namespace nnc {

/// Strips of the output of a convolution. The input of a strip is copied to
/// scratch, with its padding, in the form in which the inner loop reads it; all
/// output channels then read the copy.
struct conv2d_integers_plan {
  int height, width;           ///< pixels of the input
  int out_height, out_width;   ///< pixels of the output
  int rows, columns;           ///< output pixels of a strip
  int down, across;            ///< strips of an image along each axis
  int row_step, column_step;   ///< pixels of the copy between two outputs
  int copy_rows, copy_columns; ///< pixels of the copy of a strip
  int blocks;                  ///< blocks of input channels of a group
  int copy_blocks; ///< blocks of input channels of a group in the copy
  int out_blocks;  ///< blocks of output channels of a group
  int images;      ///< images times groups
  ptrdiff_t copy_bytes;

  constexpr int strips() const { return images * down * across; }
  constexpr int units(int OC) const {
    return strips() * ceil_div(out_blocks, OC);
  }
  /// Bytes of scratch of `threads` threads.
  constexpr ptrdiff_t scratch(int threads) const {
    return whole_lines(copy_bytes) * threads;
  }
};

/// Returns true if no tap of any output lies outside of the input, so that
/// points of the right type can be read in place.
template <class S> constexpr bool reads_in_place(const S &s) {
  return s.pt == 0 && s.pl == 0 &&
         (s.oh - 1) * s.sh + (s.kh - 1) * s.dh < s.h &&
         (s.ow - 1) * s.sw + (s.kw - 1) * s.dw < s.w;
}

/// Bytes of a copy that stay in the caches near the core beside the weights.
constexpr int strip_copy_bytes = 96 * 1024;

/// Plan for blocks of W channels, elements of `bytes` bytes and tiles of COLS
/// pixels. Blocks of the copy have `together` channels, or W if it is 0. A 1 x
/// 1 convolution of all pixels is computed as one row of them.
template <class S>
constexpr conv2d_integers_plan
plan_conv2d_integers(const S &s, int W, int bytes, int COLS, int together = 0) {
  conv2d_integers_plan p{};
  const bool flat =
      s.kh == 1 && s.kw == 1 && s.pt == 0 && s.pl == 0 && every_pixel(s);
  p.height = flat ? 1 : s.h;
  p.width = flat ? s.h * s.w : s.w;
  p.out_height = flat ? 1 : s.oh;
  p.out_width = flat ? s.oh * s.ow : s.ow;
  p.images = s.n * s.groups;
  p.blocks = ceil_div(s.c / s.groups, W);
  p.out_blocks = ceil_div(s.k / s.groups, W);
  p.row_step = s.kh == 1 ? 1 : s.sh;
  p.column_step = s.kw == 1 ? 1 : s.sw;

  const int copied = together ? together : W;
  p.copy_blocks = ceil_div(s.c / s.groups, copied);
  const ptrdiff_t pixel = ptrdiff_t(p.copy_blocks) * copied * bytes;
  const int row_reach = (s.kh - 1) * s.dh, column_reach = (s.kw - 1) * s.dw;
  const ptrdiff_t pixels = strip_copy_bytes / pixel;
  // Columns: all of them, or as many as leave room for the rows of one output
  // row.
  int columns = int(pixels / (row_reach + 1) - column_reach) / p.column_step;
  columns = larger(columns, 4 * COLS) / COLS * COLS;
  p.across = columns >= p.out_width ? 1 : ceil_div(p.out_width, columns);
  p.columns = p.across == 1
                  ? p.out_width
                  : ceil_div(ceil_div(p.out_width, p.across), COLS) * COLS;
  p.across = ceil_div(p.out_width, p.columns);
  p.copy_columns = (p.columns - 1) * p.column_step + column_reach + 1;
  int rows = (int(pixels / p.copy_columns) - row_reach - 1) / p.row_step + 1;
  rows = smaller(larger(rows, 1), p.out_height);
  p.down = ceil_div(p.out_height, rows);
  p.rows = ceil_div(p.out_height, p.down);
  p.copy_rows = (p.rows - 1) * p.row_step + row_reach + 1;
  p.copy_bytes = pixel * p.copy_rows * p.copy_columns;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_PLAN_H
