//===- portable.h - Resize on any machine ---------------------------------===//
//
// Interpolates the planes of x[n][c][h][w] to y[n][c][oh][ow] as the ONNX
// specification of Resize says. mode: 0 nearest, 1 linear, 2 cubic; coord: 0
// half_pixel, 1 asymmetric, 2 align_corners, 3 pytorch_half_pixel, 4
// half_pixel_symmetric; nearest: 0 round_prefer_floor, 1 round_prefer_ceil, 2
// floor, 3 ceil. A unit is a row of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RESAMPLING_RESIZE_PORTABLE_H
#define NNC_ROUTINES_RESAMPLING_RESIZE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/resampling/resize/taps.h"

namespace nnc {

template <class S, class Epi> struct resize_portable {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.c * s.oh; }

  /// T is float or double; nearest also takes elements of any other type. Only
  /// float takes an epilogue.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *plane = x + ptrdiff_t(unit / s.oh) * s.h * s.w;
      const resize_taps rows(s, unit % s.oh, s.h, s.oh, s.scale_h);
      const ptrdiff_t at = ptrdiff_t(unit) * s.ow;
      for (int ox = 0; ox < s.ow; ++ox) {
        const resize_taps columns(s, ox, s.w, s.ow, s.scale_w);
        y[at + ox] = epi(value(s, plane, rows, columns),
                         position<false>{at + ox, unit / s.oh % s.c});
      }
    }
  }

private:
  template <class T>
  NNC_FN static T value(const S &s, const T *plane, const resize_taps &rows,
                        const resize_taps &columns) {
    if (s.mode == 0)
      return plane[ptrdiff_t(rows.index[0]) * s.w + columns.index[0]];
    // Weights are floats; only doubles are summed in double precision.
    using sum_type = conditional_t<is_same<T, double>::value, double, float>;
    sum_type sum = 0;
    for (int i = 0; i < rows.count; ++i) {
      const T *row = plane + ptrdiff_t(rows.index[i]) * s.w;
      sum_type row_sum = 0;
      for (int j = 0; j < columns.count; ++j)
        row_sum +=
            columns.weight[j] * static_cast<sum_type>(row[columns.index[j]]);
      sum += rows.weight[i] * row_sum;
    }
    return static_cast<T>(sum);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RESAMPLING_RESIZE_PORTABLE_H
