//===- tiles_plan.h - How a convolution on tile registers is cut ----------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_PLAN_H

#include "runtime/counts.h"
#include "runtime/routines/convolution/conv2d/shape.h"

namespace nnc {

/// Strips of the output of a convolution. The input of a strip is copied to
/// scratch with its padding. The copy is made of pixels of 64 bytes, so many
/// channels. With strides it is divided into phases: the pixels whose rows and
/// whose columns leave the same remainders are adjacent. One tap of consecutive
/// outputs then reads consecutive pixels of one phase, from one row to the
/// next, too: outputs are numbered along the rows of the copy, and those that a
/// row has more than the output are dropped.
struct conv2d_tiles_plan {
  int height, width;             ///< pixels of the input
  int out_height, out_width;     ///< pixels of the output
  int rows, columns;             ///< output pixels of a strip
  int down, across;              ///< strips of an image along each axis
  int phase_rows, phase_columns; ///< phases along each axis
  int copy_rows, pitch;          ///< pixels of a phase of the copy
  int words;                     ///< groups of 4 bytes of a tap's channels
  int groups;                    ///< pixels of 64 bytes of these
  int blocks, out_blocks;        ///< blocks of 16 channels of a group
  int images;                    ///< images times groups
  int steps;                     ///< steps of 64 bytes along a sum
  ptrdiff_t plane;               ///< bytes of a phase
  ptrdiff_t group;               ///< bytes of all phases of a group
  ptrdiff_t panel;               ///< bytes of the weights of 16 channels
  ptrdiff_t copied;              ///< bytes of the copy of a strip

  constexpr int strips() const { return images * down * across; }
  constexpr int units() const { return strips() * ceil_div(out_blocks, 2); }
  constexpr ptrdiff_t scratch(int threads) const { return copied * threads; }
  /// Byte of a phase where tap (r, t) of the first output is.
  template <class S> constexpr ptrdiff_t tap(const S &s, int r, int t) const {
    const int row = r * s.dh, column = t * s.dw;
    return (row % s.sh * phase_columns + column % s.sw) * plane +
           (ptrdiff_t(row / s.sh) * pitch + column / s.sw) * 64;
  }
};

/// Returns true if a tap has the channels of at least one step.
template <class S> constexpr bool fills_tiles(const S &s, int bytes) {
  return s.c / s.groups * bytes > 60;
}

/// Plan for elements of `bytes` bytes, with copies of about KB * 1024 bytes. A
/// 1 x 1 convolution of all pixels is computed as one row of them.
template <class S>
constexpr conv2d_tiles_plan plan_conv2d_tiles(const S &s, int bytes, int KB) {
  conv2d_tiles_plan p{};
  const bool flat =
      s.kh == 1 && s.kw == 1 && s.pt == 0 && s.pl == 0 && every_pixel(s);
  p.height = flat ? 1 : s.h;
  p.width = flat ? s.h * s.w : s.w;
  p.out_height = flat ? 1 : s.oh;
  p.out_width = flat ? s.oh * s.ow : s.ow;
  p.images = s.n * s.groups;
  p.words = ceil_div(s.c / s.groups * bytes, 4);
  p.groups = ceil_div(p.words, 16);
  p.blocks = ceil_div(s.c / s.groups, 16);
  p.out_blocks = ceil_div(s.k / s.groups, 16);
  p.steps = s.kh * s.kw * p.groups;
  p.panel = ptrdiff_t(s.kh) * s.kw * p.words * 64;
  const int row_reach = (s.kh - 1) * s.dh, column_reach = (s.kw - 1) * s.dw;
  p.phase_rows = smaller(s.sh, row_reach + 1);
  p.phase_columns = smaller(s.sw, column_reach + 1);
  const int more_rows = row_reach / s.sh, more_columns = column_reach / s.sw;

  // Columns: all of them, or as many as leave room for the rows of one output
  // row.
  const int phases = p.phase_rows * p.phase_columns;
  const int pixels = larger(64, KB * 1024 / (p.groups * phases * 64));
  const int columns = larger(32, pixels / (more_rows + 1) - more_columns);
  p.across = columns >= p.out_width ? 1 : ceil_div(p.out_width, columns);
  p.columns = p.across == 1
                  ? p.out_width
                  : ceil_div(ceil_div(p.out_width, p.across), 32) * 32;
  p.across = ceil_div(p.out_width, p.columns);
  p.pitch = p.columns + more_columns;
  const int rows =
      smaller(larger(pixels / p.pitch - more_rows, 1), p.out_height);
  p.down = ceil_div(p.out_height, rows);
  p.rows = ceil_div(p.out_height, p.down);
  p.down = ceil_div(p.out_height, p.rows);
  p.copy_rows = p.rows + more_rows;
  p.plane = ptrdiff_t(p.copy_rows) * p.pitch * 64;
  p.group = phases * p.plane;
  // The last tile may read 15 pixels beyond the copy.
  p.copied = p.groups * p.group + 1024;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_PLAN_H
