//===- tiled.h - Strided copy with transposes in registers ----------------===//
//
// The copy of portable.h. Where x is contiguous along one axis and y along
// another (a transpose, whatever the other axes do), tiles of W x W floats are
// transposed in registers, and elements of other types are copied tile by tile.
// Where both are contiguous along the same axis, whole rows are copied.
// Anything else is copied as in portable.h. A unit is W indices of the axis
// along which x is contiguous, for one index of all axes but those two; or a
// row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_COPY_TILED_H
#define NNC_ROUTINES_MOVES_COPY_TILED_H

#include "runtime/meta.h"
#include "runtime/routines/moves/copy/row.h"
#include "runtime/simd/transpose.h"

namespace nnc {

template <int W, class S, class Epi> struct copy_t {
  static constexpr int units(const S &s) {
    const int from = axis(s, s.src_strides), to = axis(s, s.dst_strides);
    int count = 1;
    for (int d = 0; d < s.rank; ++d)
      if (d != from && d != to)
        count *= s.dims[d];
    return from == to ? count : count * ((s.dims[from] + W - 1) / W);
  }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                  int end) {
    const int from = axis(s, s.src_strides), to = axis(s, s.dst_strides);
    const int pieces = from == to ? 1 : (s.dims[from] + W - 1) / W;
    for (int unit = begin; unit < end; ++unit) {
      ptrdiff_t at_x = s.src_offset, at_y = s.dst_offset;
      int rest = unit / pieces;
      for (int d = s.rank; d-- > 0;)
        if (d != from && d != to) {
          at_x += ptrdiff_t(rest % s.dims[d]) * s.src_strides[d];
          at_y += ptrdiff_t(rest % s.dims[d]) * s.dst_strides[d];
          rest /= s.dims[d];
        }
      if (from == to) {
        copy_row(x + at_x, s.src_strides[from], y + at_y, s.dst_strides[from],
                 s.dims[from]);
        continue;
      }
      const int first = unit % pieces * W;
      at_x += ptrdiff_t(first) * s.src_strides[from];
      at_y += ptrdiff_t(first) * s.dst_strides[from];
      const int width = s.dims[from] - first < W ? s.dims[from] - first : W;
      for (int i = 0; i < s.dims[to]; i += W)
        tile(x + at_x + ptrdiff_t(i) * s.src_strides[to], s.src_strides[to],
             s.src_strides[from], s.dims[to] - i < W ? s.dims[to] - i : W,
             width, y + at_y + ptrdiff_t(i) * s.dst_strides[to],
             s.dst_strides[from], s.dst_strides[to]);
    }
  }

private:
  /// The longest axis with stride 1; the last axis if there is none.
  template <class Strides>
  static constexpr int axis(const S &s, const Strides &strides) {
    int best = s.rank - 1;
    for (int d = 0; d < s.rank; ++d)
      if (strides[d] == 1 && (strides[best] != 1 || s.dims[d] > s.dims[best]))
        best = d;
    return best;
  }

  /// Copies a tile: y[j * y_row + i * y_step] = x[i * x_row + j * x_step] for i
  /// < rows, j < columns.
  template <class T>
  static void tile(const T *x, ptrdiff_t x_row, ptrdiff_t x_step, int rows,
                   int columns, T *y, ptrdiff_t y_row, ptrdiff_t y_step) {
    if constexpr (is_same<T, float>::value && W > 1)
      if (x_step == 1 && y_step == 1) {
        transpose_tile<W>(x, x_row, rows, columns, y, y_row);
        return;
      }
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i)
        y[j * y_row + i * y_step] = x[i * x_row + j * x_step];
  }
};

template <class S, class Epi> using copy_sse4 = copy_t<4, S, Epi>;
template <class S, class Epi> using copy_avx2 = copy_t<8, S, Epi>;
template <class S, class Epi> using copy_rvv = copy_t<8, S, Epi>;
template <class S, class Epi> using copy_avx512 = copy_t<16, S, Epi>;
template <class S, class Epi> using copy_neon = copy_t<4, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_COPY_TILED_H
