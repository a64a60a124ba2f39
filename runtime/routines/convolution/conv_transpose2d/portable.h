//===- portable.h - Transposed 2-D convolution on any machine -------------===//
//
// y[n][k][iy * sh - pt + i * dh][ix * sw - pl + j * dw] +=
//     x[n][c][iy][ix] * w[c][k][i][j], then the epilogue; plain NCHW, weights
// [c][k / groups][kh][kw]. A unit is a row of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PORTABLE_H
#define NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// Sums are of type A: float, double or int32_t. Elements of x and w are
/// converted to A first; sums of integers wrap. Y is the result type of the
/// epilogue on a sum. Sums of double take no epilogue.
template <class A, class S, class Epi> struct conv_transpose2d_portable {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.k * s.oh; }

  template <class X, class W, class Y>
  NNC_FN static void run(const S &s, const X *x, const W *w, Y *y,
                         const Epi &epi, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int oy = unit % s.oh, k = unit / s.oh % s.k, n = unit / s.oh / s.k;
      for (int ox = 0; ox < s.ow; ox += tile)
        run_tile(s, x, w, y, epi, n, k, oy, ox);
    }
  }

private:
  static constexpr int tile = 64;

  template <class X, class W, class Y>
  NNC_FN static void run_tile(const S &s, const X *x, const W *w, Y *y,
                              const Epi &epi, int n, int k, int oy, int ox) {
    const int width = s.ow - ox < tile ? s.ow - ox : tile;
    const int channels = s.c / s.groups, outputs = s.k / s.groups;
    const int group = k / outputs;
    A sum[tile] = {};
    for (int c = group * channels; c < (group + 1) * channels; ++c) {
      const X *plane = x + (ptrdiff_t(n) * s.c + c) * s.h * s.w;
      const W *taps = w + (ptrdiff_t(c) * outputs + k % outputs) * s.kh * s.kw;
      for (int i = 0; i < s.kh; ++i) {
        const int y_at = oy + s.pt - i * s.dh;
        if (y_at < 0 || y_at % s.sh != 0 || y_at / s.sh >= s.h)
          continue;
        const X *row = plane + ptrdiff_t(y_at / s.sh) * s.w;
        for (int j = 0; j < s.kw; ++j)
          add_tap(s, row, static_cast<A>(taps[i * s.kw + j]),
                  j * s.dw - s.pl - ox, width, sum);
      }
    }
    const ptrdiff_t at = ((ptrdiff_t(n) * s.k + k) * s.oh + oy) * s.ow + ox;
    for (int j = 0; j < width; ++j)
      y[at + j] = epi(sum[j], position<false>{at + j, k});
  }

  /// sum[shift + ix * sw] += row[ix] * tap for each ix that lands in the tile.
  template <class X>
  NNC_FN static void add_tap(const S &s, const X *row, A tap, int shift,
                             int width, A *sum) {
    const int from = shift < 0 ? (-shift + s.sw - 1) / s.sw : 0;
    for (int ix = from; ix < s.w && shift + ix * s.sw < width; ++ix)
      sum[shift + ix * s.sw] =
          plus(sum[shift + ix * s.sw], times(static_cast<A>(row[ix]), tap));
  }
};

template <class S, class Epi>
using conv_transpose2d_f32_portable = conv_transpose2d_portable<float, S, Epi>;
template <class S, class Epi>
using conv_transpose2d_f64_portable = conv_transpose2d_portable<double, S, Epi>;
template <class S, class Epi>
using conv_transpose2d_i32_portable =
    conv_transpose2d_portable<int32_t, S, Epi>;
template <class S, class Epi>
using conv_transpose2d_i64_portable =
    conv_transpose2d_portable<int64_t, S, Epi>;

/// Floats of 16 bits on a GPU, whose sums are floats.
template <class S, class Epi>
using conv_transpose2d_bf16_units_sm80 =
    conv_transpose2d_portable<float, S, Epi>;
template <class S, class Epi>
using conv_transpose2d_f16_units_sm75 =
    conv_transpose2d_portable<float, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_PORTABLE_H
