//===- blocked.h - 2-D pooling in blocked layouts -------------------------===//
//
// Maximum or mean of windows of kh x kw taps, x and y in NCHW<W>c, W channels
// at a time. Padding counts as portable.h says. A unit is a row of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_BLOCKED_H
#define NNC_ROUTINES_POOLING_POOL2D_BLOCKED_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/pooling/pool2d/window.h"
#include "runtime/routines/units/thread_ranges.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// Maximum of a window; NaN if the window holds one, zero if it is empty.
template <int W> struct pool_largest {
  template <class S, class T>
  static NNC_INLINE f32x<W> over(const S &s, const T *x, pool_range rows,
                                 pool_range columns, int, int) {
    if (rows.count() == 0 || columns.count() == 0)
      return f32x<W>(0.0f);
    f32x<W> best = at(s, x, rows.from, columns.from);
    for (int i = rows.from; i < rows.to; ++i)
      for (int j = columns.from; j < columns.to; ++j)
        best = max(best, at(s, x, i, j));
    return best;
  }

private:
  template <class S, class T>
  static NNC_INLINE f32x<W> at(const S &s, const T *x, int i, int j) {
    return load<f32x<W>>(x + (ptrdiff_t(i) * s.dh * s.w + j * s.dw) * W);
  }
};

/// Mean of a window; zero if it is empty.
template <int W> struct pool_mean {
  template <class S, class T>
  static NNC_INLINE f32x<W> over(const S &s, const T *x, pool_range rows,
                                 pool_range columns, int top, int left) {
    int count = rows.count() * columns.count();
    const bool whole_rows = columns.count() == s.w && s.dw == 1 && s.dh == 1;
    f32x<W> sum(0.0f);
    if (whole_rows) // The window is contiguous, as in global pooling.
      sum = run(x + (ptrdiff_t(rows.from) * s.w + columns.from) * W, W, count);
    else
      for (int i = rows.from; i < rows.to; ++i)
        sum = sum + run(x + (ptrdiff_t(i) * s.dh * s.w +
                             ptrdiff_t(columns.from) * s.dw) *
                                W,
                        ptrdiff_t(s.dw) * W, columns.count());
    if (s.count_include_pad)
      count = pool_range(top, s.dh, s.kh, -s.pt, s.h + s.pb).count() *
              pool_range(left, s.dw, s.kw, -s.pl, s.w + s.pr).count();
    return sum / f32x<W>(static_cast<float>(count == 0 ? 1 : count));
  }

private:
  /// Sum of `count` vectors, `step` apart, as four sums that do not wait for
  /// each other.
  template <class T>
  static NNC_INLINE f32x<W> run(const T *x, ptrdiff_t step, int count) {
    f32x<W> a(0.0f), b(0.0f), c(0.0f), d(0.0f);
    int i = 0;
    for (; i + 4 <= count; i += 4, x += 4 * step) {
      a = a + load<f32x<W>>(x);
      b = b + load<f32x<W>>(x + step);
      c = c + load<f32x<W>>(x + 2 * step);
      d = d + load<f32x<W>>(x + 3 * step);
    }
    for (; i < count; ++i, x += step)
      a = a + load<f32x<W>>(x);
    return (a + b) + (c + d);
  }
};

template <int W, class S, class Kind, class Epi> struct pool2d_nchwc_t {
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");

  static constexpr int units(const S &s) {
    return s.n * ceil_div(s.c, W) * s.oh;
  }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &epi, int begin,
                  int end) {
    const int blocks = ceil_div(s.c, W);
    for_each_run(
        begin, end, s.oh, blocks, shares_places_of_planes(s.c, s.h * s.w),
        [&](int image, int block, int first, int last) {
          for (int r = first; r < last; ++r)
            pool_row(s, x, y, epi, image * blocks + block, block * W, r);
        });
  }

private:
  /// Computes row `row` of plane `plane`, whose first channel is `channel`.
  template <class T>
  static NNC_INLINE void pool_row(const S &s, const T *x, T *y, const Epi &epi,
                                  int plane, int channel, int row) {
    const T *in = x + ptrdiff_t(plane) * s.h * s.w * W;
    const int top = row * s.sh - s.pt;
    const pool_range rows(top, s.dh, s.kh, 0, s.h);
    ptrdiff_t at = (ptrdiff_t(plane) * s.oh + row) * s.ow * W;
    for (int col = 0; col < s.ow; ++col, at += W) {
      const int left = col * s.sw - s.pl;
      const T *window = in + (ptrdiff_t(top) * s.w + left) * W;
      // Inside the image the range is a constant, and the compiler can unroll
      // its loop.
      const bool inside = left >= 0 && left + (s.kw - 1) * s.dw < s.w;
      const f32x<W> v =
          inside ? Kind::over(s, window, rows, pool_range(0, 1, s.kw, 0, s.kw),
                              top, left)
                 : Kind::over(s, window, rows,
                              pool_range(left, s.dw, s.kw, 0, s.w), top, left);
      store_channels(v, y, at, channel, s.c, epi);
    }
  }
};

template <class S, class Epi>
using max_pool2d_bf16_nchw16c_amxbf16 =
    pool2d_nchwc_t<16, S, pool_largest<16>, Epi>;
template <class S, class Epi>
using max_pool2d_f32_nchw16c_avx512 =
    pool2d_nchwc_t<16, S, pool_largest<16>, Epi>;
template <class S, class Epi>
using max_pool2d_f32_nchw8c_avx2 = pool2d_nchwc_t<8, S, pool_largest<8>, Epi>;
template <class S, class Epi>
using max_pool2d_f32_nchw8c_rvv = pool2d_nchwc_t<8, S, pool_largest<8>, Epi>;
template <class S, class Epi>
using max_pool2d_f32_nchw4c_neon = pool2d_nchwc_t<4, S, pool_largest<4>, Epi>;
template <class S, class Epi>
using max_pool2d_f32_nchw4c_sse4 = pool2d_nchwc_t<4, S, pool_largest<4>, Epi>;
template <class S, class Epi>
using max_pool2d_f16_nchw8c_neonfp16 =
    pool2d_nchwc_t<8, S, pool_largest<8>, Epi>;

template <class S, class Epi>
using avg_pool2d_bf16_nchw16c_amxbf16 =
    pool2d_nchwc_t<16, S, pool_mean<16>, Epi>;
template <class S, class Epi>
using avg_pool2d_f32_nchw16c_avx512 = pool2d_nchwc_t<16, S, pool_mean<16>, Epi>;
template <class S, class Epi>
using avg_pool2d_f32_nchw8c_avx2 = pool2d_nchwc_t<8, S, pool_mean<8>, Epi>;
template <class S, class Epi>
using avg_pool2d_f32_nchw8c_rvv = pool2d_nchwc_t<8, S, pool_mean<8>, Epi>;
template <class S, class Epi>
using avg_pool2d_f32_nchw4c_neon = pool2d_nchwc_t<4, S, pool_mean<4>, Epi>;
template <class S, class Epi>
using avg_pool2d_f32_nchw4c_sse4 = pool2d_nchwc_t<4, S, pool_mean<4>, Epi>;
template <class S, class Epi>
using avg_pool2d_f16_nchw8c_neonfp16 = pool2d_nchwc_t<8, S, pool_mean<8>, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_BLOCKED_H
