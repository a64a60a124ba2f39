//===- nhwc.h - 2-D convolution of images in NHWC on any machine ----------===//
//
// The layer of portable.h on x[n][h][w][c] and y[n][oh][ow][k]. Weights are
// w[k][kh][kw][c], so that the taps of a row of the window are one run of
// elements in x and in w; or, of depthwise convolutions, w[kh][kw][k], where
// channel k reads channel k / (s.k / s.c) of x. A unit is a row of the output.
//
// A sum adds its products in the order i, j, c, so the error is that of a plain
// sum of kh * kw * c products.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_NHWC_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_NHWC_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/microcontrollers/thumb_products.h"
#include "runtime/routines/pooling/pool2d/window.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// Sums are of type A: float, int32_t or int64_t. Elements of x and w are
/// converted to A first; sums of integers wrap. Y is the result type of the
/// epilogue on a sum.
template <class A, class S, class Epi> struct conv2d_nhwc {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class X, class W, class Y>
  NNC_FN static void run(const S &s, const X *x, const W *w, Y *y,
                         const Epi &epi, int begin, int end) {
    run_filters(s, x, w, y, nullptr, epi, begin, end, all_filters(s));
  }

  /// Computes the channels of some filters. w holds only the weights of these.
  template <class X, class W, class Y>
  static NNC_INLINE void run_filters(const S &s, const X *x, const W *w, Y *y,
                                     unsigned char *, const Epi &epi, int begin,
                                     int end, filter_range filters) {
    for (int unit = begin; unit < end; ++unit) {
      const int oy = unit % s.oh;
      const X *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      for (int ox = 0; ox < s.ow; ++ox) {
        ptrdiff_t at = (ptrdiff_t(unit) * s.ow + ox) * s.k + filters.first;
        for (int k = 0; k < filters.count; k += tile) {
          const int count = filters.count - k < tile ? filters.count - k : tile;
          A sum[tile] = {};
          if (count == tile)
            add_window<tile>(s, image, w, oy, ox, k, sum);
          else
            for (int i = 0; i < count; ++i)
              add_window<1>(s, image, w, oy, ox, k + i, sum + i);
          for (int i = 0; i < count; ++i, ++at)
            y[at] = epi(sum[i], position<true>{at, filters.first + k + i});
        }
      }
    }
  }

private:
  static constexpr int tile = 4; ///< channels of y whose sums share loads of x

  /// Adds the products of a window to the sums of K channels from k on.
  template <int K, class X, class W>
  NNC_FN static void add_window(const S &s, const X *image, const W *w, int oy,
                                int ox, int k, A *sum) {
    const int top = oy * s.sh - s.pt, left = ox * s.sw - s.pl;
    const ptrdiff_t filter = ptrdiff_t(s.kh) * s.kw * s.c;
    const W *taps = w + k * filter;
    const pool_range columns(left, s.dw, s.kw, 0, s.w);
    for (int i = 0; i < s.kh; ++i, taps += s.kw * s.c) {
      const int iy = top + i * s.dh;
      const bool outside = iy < 0 || iy >= s.h;
      const int from = outside ? 0 : columns.from,
                to = outside ? 0 : columns.to;
      add_fill<K>(s, taps, filter, 0, from, sum);
      add_fill<K>(s, taps, filter, to, s.kw, sum);
      if (from == to)
        continue;
      const X *row = image + (ptrdiff_t(iy) * s.w + left) * s.c;
      if (s.dw == 1) {
        add_run<K>(row + from * s.c, taps + from * s.c, filter,
                   (to - from) * s.c, sum);
        continue;
      }
      for (int j = from; j < to; ++j)
        add_run<K>(row + j * s.dw * s.c, taps + j * s.c, filter, s.c, sum);
    }
  }

  /// Adds the products of a run of elements with K rows of weights.
  template <int K, class X, class W>
  NNC_FN static void add_run(const X *x, const W *w, ptrdiff_t filter,
                             int count, A *sums) {
#if NNC_THUMB_PRODUCTS
    if constexpr (K == 4 && is_same<X, int8_t>::value &&
                  is_same<W, int8_t>::value && is_same<A, int32_t>::value) {
      thumb_add_rows(x, w, int(filter), count, sums);
      return;
    }
#endif
    A sum[static_cast<size_t>(K)];
    for (int k = 0; k < K; ++k)
      sum[k] = sums[k];
    for (int i = 0; i < count; ++i) {
      const A v = static_cast<A>(x[i]);
      for (int k = 0; k < K; ++k)
        sum[k] = plus(sum[k], times(v, static_cast<A>(w[k * filter + i])));
    }
    for (int k = 0; k < K; ++k)
      sums[k] = sum[k];
  }

  /// Adds the products of columns [from, to) that lie outside of x.
  template <int K, class W>
  NNC_FN static void
  add_fill([[maybe_unused]] const S &s, [[maybe_unused]] const W *taps,
           [[maybe_unused]] ptrdiff_t filter, [[maybe_unused]] int from,
           [[maybe_unused]] int to, [[maybe_unused]] A *sum) {
#if NNC_THUMB_PRODUCTS
    if constexpr (K == 4 && is_same<W, int8_t>::value &&
                  is_same<A, int32_t>::value) {
      if (s.fill != 0 && from < to)
        thumb_add_fill(s.fill, taps + from * s.c, int(filter),
                       (to - from) * s.c, sum);
      return;
    }
#endif
    if constexpr (is_int<A>)
      if (s.fill != 0)
        for (int i = from * s.c; i < to * s.c; ++i)
          for (int k = 0; k < K; ++k)
            sum[k] = plus(sum[k], times(static_cast<A>(s.fill),
                                        static_cast<A>(taps[k * filter + i])));
  }
};

/// The routine for depthwise convolutions: s.groups is s.c.
template <class A, class S, class Epi> struct conv2d_nhwc_depthwise {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class X, class W, class Y>
  NNC_FN static void run(const S &s, const X *x, const W *w, Y *y,
                         const Epi &epi, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int oy = unit % s.oh;
      const X *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.k;
      for (int ox = 0; ox < s.ow; ++ox)
        for (int k = 0; k < s.k; k += tile) {
          const int count = s.k - k < tile ? s.k - k : tile;
          A sum[tile] = {};
          add_window(s, image, w, oy, ox, k, count, sum);
          for (int i = 0; i < count; ++i, ++at)
            y[at] = epi(sum[i], position<true>{at, k + i});
        }
    }
  }

private:
  static constexpr int tile = 8; ///< sums that stay in registers

  template <class X, class W>
  NNC_FN static void add_window(const S &s, const X *image, const W *w, int oy,
                                int ox, int k, int count, A *sum) {
    const int top = oy * s.sh - s.pt, left = ox * s.sw - s.pl;
    const int copies = s.k / s.c;
#if NNC_THUMB_PRODUCTS
    if constexpr (is_same<X, int8_t>::value && is_same<W, int8_t>::value &&
                  is_same<A, int32_t>::value) {
      const bool isInside = top >= 0 && top + (s.kh - 1) * s.dh < s.h &&
                            left >= 0 && left + 2 < s.w;
      if (s.kw == 3 && s.dw == 1 && copies == 1 && isInside) {
        const X *p = image + (ptrdiff_t(top) * s.w + left) * s.c + k;
        for (int c = 0; c < count; ++c)
          sum[c] = thumb_add_threes(p + c, w + k + c, s.c, s.dh * s.w * s.c,
                                    s.kh, sum[c]);
        return;
      }
    }
#endif
    for (int i = 0; i < s.kh; ++i)
      for (int j = 0; j < s.kw; ++j) {
        const int iy = top + i * s.dh, ix = left + j * s.dw;
        const W *taps = w + (ptrdiff_t(i) * s.kw + j) * s.k + k;
        if (iy < 0 || iy >= s.h || ix < 0 || ix >= s.w) {
          add_fill(s, taps, count, sum);
          continue;
        }
        const X *pixel = image + (ptrdiff_t(iy) * s.w + ix) * s.c;
        if (copies == 1)
          for (int c = 0; c < count; ++c)
            sum[c] = plus(sum[c], times(static_cast<A>(pixel[k + c]),
                                        static_cast<A>(taps[c])));
        else
          for (int c = 0; c < count; ++c)
            sum[c] = plus(sum[c], times(static_cast<A>(pixel[(k + c) / copies]),
                                        static_cast<A>(taps[c])));
      }
  }

  template <class W>
  NNC_FN static void
  add_fill([[maybe_unused]] const S &s, [[maybe_unused]] const W *taps,
           [[maybe_unused]] int count, [[maybe_unused]] A *sum) {
    if constexpr (is_int<A>)
      if (s.fill != 0)
        for (int c = 0; c < count; ++c)
          sum[c] = plus(sum[c],
                        times(static_cast<A>(s.fill), static_cast<A>(taps[c])));
  }
};

template <class S, class Epi>
using conv2d_f32_nhwc_portable = conv2d_nhwc<float, S, Epi>;
template <class S, class Epi>
using conv2d_i32_nhwc_portable = conv2d_nhwc<int32_t, S, Epi>;
template <class S, class Epi>
using conv2d_i64_nhwc_portable = conv2d_nhwc<int64_t, S, Epi>;
template <class S, class Epi>
using conv2d_f32_nhwc_depthwise_portable = conv2d_nhwc_depthwise<float, S, Epi>;
template <class S, class Epi>
using conv2d_i32_nhwc_depthwise_portable =
    conv2d_nhwc_depthwise<int32_t, S, Epi>;
template <class S, class Epi>
using conv2d_i64_nhwc_depthwise_portable =
    conv2d_nhwc_depthwise<int64_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_NHWC_H
