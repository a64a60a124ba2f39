//===- portable.h - 2-D convolution on any machine; the reference ---------===//
//
// y[n][k][oy][ox] = epi(sum over c, i, j of
//     x[n][c][oy * sh - pt + i * dh][ox * sw - pl + j * dw] * w[k][c][i][j])
// with zeros, or in sums of integers s.fill, outside of x; plain NCHW and KCRS.
// A unit is a row of the output, or with ByElement an element.
//
// A tile of one output row adds its products in the order c, i, j, so the error
// is that of a plain sum of kh * kw * c / groups products.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_PORTABLE_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// Sums are of type A: float, double, int32_t or int64_t. Elements of x and w
/// are converted to A first; sums of integers wrap. Y is the result type of the
/// epilogue on a sum. Sums of double take no epilogue.
template <class A, class S, class Epi, bool ByElement = false>
struct conv2d_portable {
  using by_element = conv2d_portable<A, S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return s.n * s.k * s.oh * pieces(s);
  }

  template <class X, class W, class Y>
  NNC_FN static void run(const S &s, const X *x, const W *w, Y *y,
                         const Epi &epi, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int row = unit / pieces(s);
      const int oy = row % s.oh, k = row / s.oh % s.k, n = row / s.oh / s.k;
      if constexpr (ByElement)
        run_tile(s, x, w + k * filter(s), y, epi, n, k, oy, unit % s.ow);
      else
        for (int ox = 0; ox < s.ow; ox += tile)
          run_tile(s, x, w + k * filter(s), y, epi, n, k, oy, ox);
    }
  }

  /// Computes the units of [begin, end) that belong to some filters. w holds
  /// only the weights of these.
  template <class X, class W, class Y>
  static NNC_INLINE void run_filters(const S &s, const X *x, const W *w, Y *y,
                                     unsigned char *, const Epi &epi, int begin,
                                     int end, filter_range filters) {
    for (int unit = begin; unit < end; ++unit) {
      const int oy = unit % s.oh, k = unit / s.oh % s.k, n = unit / s.oh / s.k;
      const int here = k - filters.first;
      if (here < 0 || here >= filters.count)
        continue;
      for (int ox = 0; ox < s.ow; ox += tile)
        run_tile(s, x, w + here * filter(s), y, epi, n, k, oy, ox);
    }
  }

private:
  /// Sums that stay in registers or L1.
  static constexpr int tile = ByElement ? 1 : 64;

  /// Units of a row of the output.
  NNC_FN static constexpr int pieces(const S &s) {
    return ByElement ? s.ow : 1;
  }

  /// Weights of a filter.
  NNC_FN static constexpr ptrdiff_t filter(const S &s) {
    return ptrdiff_t(s.c / s.groups) * s.kh * s.kw;
  }

  /// The weights at w are those of filter k.
  template <class X, class W, class Y>
  NNC_FN static void run_tile(const S &s, const X *x, const W *w, Y *y,
                              const Epi &epi, int n, int k, int oy, int ox) {
    const int width = s.ow - ox < tile ? s.ow - ox : tile;
    const int channels = s.c / s.groups;
    const int first = k / (s.k / s.groups) * channels;
    A sum[size_t(tile)] = {};
    for (int c = 0; c < channels; ++c) {
      const X *plane = x + (ptrdiff_t(n) * s.c + first + c) * s.h * s.w;
      const W *taps = w + ptrdiff_t(c) * s.kh * s.kw;
      for (int i = 0; i < s.kh; ++i) {
        const int iy = oy * s.sh - s.pt + i * s.dh;
        if (iy < 0 || iy >= s.h) {
          for (int j = 0; j < s.kw; ++j)
            add_fill(s, static_cast<A>(taps[i * s.kw + j]), 0, width, sum);
          continue;
        }
        const X *row = plane + ptrdiff_t(iy) * s.w;
        for (int j = 0; j < s.kw; ++j)
          add_tap(s, row, static_cast<A>(taps[i * s.kw + j]),
                  ox * s.sw - s.pl + j * s.dw, width, sum);
      }
    }
    const ptrdiff_t at = ((ptrdiff_t(n) * s.k + k) * s.oh + oy) * s.ow + ox;
    for (int j = 0; j < width; ++j)
      y[at + j] = epi(sum[j], position<false>{at + j, k});
  }

  /// Adds a tap outside of x to sums [from, to).
  NNC_FN static void add_fill([[maybe_unused]] const S &s,
                              [[maybe_unused]] A tap, [[maybe_unused]] int from,
                              [[maybe_unused]] int to,
                              [[maybe_unused]] A *sum) {
    if constexpr (is_integral<A>::value)
      if (s.fill != 0)
        for (int j = from; j < to; ++j)
          sum[j] = plus(sum[j], times(static_cast<A>(s.fill), tap));
  }

  /// sum[j] += row[left + j * sw] * tap, where that lies inside the row.
  template <class X>
  NNC_FN static void add_tap(const S &s, const X *row, A tap, int left,
                             int width, A *sum) {
    int from = left < 0 ? (-left + s.sw - 1) / s.sw : 0;
    int to = left >= s.w ? 0 : (s.w - left + s.sw - 1) / s.sw;
    to = to < width ? to : width;
    if constexpr (is_integral<A>::value) {
      const int first = from < width ? from : width;
      add_fill(s, tap, 0, first, sum);
      add_fill(s, tap, to > first ? to : first, width, sum);
    }
    if (s.sw == 1) {
      for (int j = from; j < to; ++j)
        sum[j] = plus(sum[j], times(static_cast<A>(row[left + j]), tap));
    } else {
      for (int j = from; j < to; ++j)
        sum[j] = plus(sum[j], times(static_cast<A>(row[left + j * s.sw]), tap));
    }
  }
};

template <class S, class Epi>
using conv2d_f32_portable = conv2d_portable<float, S, Epi>;
template <class S, class Epi>
using conv2d_f64_portable = conv2d_portable<double, S, Epi>;
template <class S, class Epi>
using conv2d_i32_portable = conv2d_portable<int32_t, S, Epi>;
template <class S, class Epi>
using conv2d_i64_portable = conv2d_portable<int64_t, S, Epi>;

/// Floats of 16 bits on a GPU, whose sums are floats.
template <class S, class Epi>
using conv2d_bf16_units_sm80 = conv2d_portable<float, S, Epi>;
template <class S, class Epi>
using conv2d_f16_units_sm75 = conv2d_portable<float, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_PORTABLE_H
