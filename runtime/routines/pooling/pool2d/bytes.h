//===- bytes.h - 2-D pooling of integers in blocked layouts ---------------===//
//
// max_pool2d of integers of at most 16 bits, and avg_pool2d of bytes, whose
// sums are made in 32 bits and whose means are floats; x and y in NCHW<W>c. The
// taps of a window that count are those of portable.h. A unit is a row of a
// block of channels.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_BYTES_H
#define NNC_ROUTINES_POOLING_POOL2D_BYTES_H

#include "runtime/counts.h"
#include "runtime/meta.h"
#include "runtime/routines/pooling/pool2d/window.h"
#include "runtime/simd/bytes.h"
#include "runtime/store_sums.h"

namespace nnc {

template <int W, class S, class Epi> struct max_pool2d_bytes_t {
  static constexpr int units(const S &s) {
    return s.n * ceil_div(s.c, W) * s.oh;
  }

  /// An integer result has no epilogue.
  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                  int end) {
    constexpr int most = line_bytes / int(sizeof(T)) / W;
    const int reach = (s.kw - 1) * s.dw;
    for (int unit = begin; unit < end; ++unit) {
      const T *plane = x + ptrdiff_t(unit / s.oh) * s.h * s.w * W;
      T *to = y + ptrdiff_t(unit) * s.ow * W;
      if (reach < most) {
        const int columns = (most - 1 - reach) / s.sw + 1;
        for (int ox = 0; ox < s.ow; ox += columns)
          run_of_windows(s, plane, unit % s.oh, ox, smaller(columns, s.ow - ox),
                         to + ptrdiff_t(ox) * W);
      } else {
        for (int ox = 0; ox < s.ow; ++ox)
          window(s, plane, unit % s.oh, ox, to + ptrdiff_t(ox) * W);
      }
    }
    keep_padding_zero(s, y, begin, end);
  }

private:
  /// Bytes of the stack that hold the largest elements of columns of pixels.
  static constexpr int line_bytes = 4096;

  template <class T> static NNC_INLINE T larger_of(T a, T b) {
    return a < b ? b : a;
  }

  /// Computes `count` neighbouring windows of an output row, the first in
  /// column `ox`: the largest elements first of each column of pixels, then of
  /// as many neighbouring columns as a window has. Both loops are over
  /// consecutive numbers, so that compilers fill whole vectors.
  template <class T>
  static void run_of_windows(const S &s, const T *plane, int oy, int ox,
                             int count, T *to) {
    T line[line_bytes / sizeof(T)];
    const int top = oy * s.sh - s.pt, left = ox * s.sw - s.pl;
    const int span = (count - 1) * s.sw + (s.kw - 1) * s.dw + 1;
    const int first = smaller(span, larger(0, -left));
    const int last = larger(first, smaller(span, s.w - left));
    const pool_range rows(top, s.dh, s.kh, 0, s.h);
    const int all = span * W, from = first * W, inside = (last - first) * W;
    for (int i = 0; i < all; ++i)
      line[i] = numeric_limits<T>::min();
    for (int r = rows.from; r < rows.to; ++r) {
      const T *row =
          plane + (ptrdiff_t(top + r * s.dh) * s.w + left + first) * W;
      for (int i = 0; i < inside; ++i)
        line[from + i] = larger_of(line[from + i], row[i]);
    }
    const int starts = ((count - 1) * s.sw + 1) * W;
    for (int i = 0; i < starts; ++i) {
      T best = line[i];
      for (int j = 1; j < s.kw; ++j)
        best = larger_of(best, line[i + j * s.dw * W]);
      line[i] = best;
    }
    for (int i = 0; i < count; ++i)
      memcpy(to + i * W, line + i * s.sw * W, W * sizeof(T));
  }

  /// Computes a window that is too wide for run_of_windows.
  template <class T>
  static void window(const S &s, const T *plane, int oy, int ox, T *to) {
    const int top = oy * s.sh - s.pt, left = ox * s.sw - s.pl;
    const pool_range rows(top, s.dh, s.kh, 0, s.h);
    const pool_range columns(left, s.dw, s.kw, 0, s.w);
    T best[W];
    for (int c = 0; c < W; ++c)
      best[c] = numeric_limits<T>::min();
    for (int i = rows.from; i < rows.to; ++i)
      for (int j = columns.from; j < columns.to; ++j) {
        const T *from =
            plane + (ptrdiff_t(top + i * s.dh) * s.w + left + j * s.dw) * W;
        for (int c = 0; c < W; ++c)
          best[c] = larger_of(best[c], from[c]);
      }
    memcpy(to, best, sizeof best);
  }

  /// Sets the lanes behind the last channel to zero again, because a maximum
  /// over negative numbers may store other values there.
  template <class T>
  static void keep_padding_zero(const S &s, T *y, int begin, int end) {
    const int rest = s.c % W;
    if (rest == 0)
      return;
    const int blocks = ceil_div(s.c, W);
    for (int unit = begin; unit < end; ++unit)
      if (unit / s.oh % blocks == blocks - 1)
        for (int ox = 0; ox < s.ow; ++ox)
          for (int c = rest; c < W; ++c)
            y[(ptrdiff_t(unit) * s.ow + ox) * W + c] = T(0);
  }
};

template <int W, class S, class Epi> struct avg_pool2d_bytes_t {
  static constexpr int units(const S &s) {
    return s.n * ceil_div(s.c, W) * s.oh;
  }

  template <class X, class Y>
  static void run(const S &s, const X *x, Y *y, const Epi &epilogue, int begin,
                  int end) {
    const Epi epi = epilogue;
    const int blocks = ceil_div(s.c, W);
    for (int unit = begin; unit < end; ++unit) {
      const int top = unit % s.oh * s.sh - s.pt;
      const pool_range rows(top, s.dh, s.kh, 0, s.h);
      const X *plane = x + ptrdiff_t(unit / s.oh) * s.h * s.w * W;
      const int channel = unit / s.oh % blocks * W;
      for (int ox = 0; ox < s.ow; ++ox) {
        const int left = ox * s.sw - s.pl;
        const pool_range columns(left, s.dw, s.kw, 0, s.w);
        i32x<W> sum(0);
        for (int i = rows.from; i < rows.to; ++i) {
          const X *row = plane + (ptrdiff_t(top + i * s.dh) * s.w + left) * W;
          for (int j = columns.from; j < columns.to; ++j)
            sum = sum + byte_lanes<W>::load(row + ptrdiff_t(j) * s.dw * W);
        }
        int count = rows.count() * columns.count();
        if (s.count_include_pad)
          count = pool_range(top, s.dh, s.kh, -s.pt, s.h + s.pb).count() *
                  pool_range(left, s.dw, s.kw, -s.pl, s.w + s.pr).count();
        // A window without counted taps has the mean 0.
        const f32x<W> divisor(float(count ? count : 1));
        store_sums((count ? to_float(sum) : f32x<W>(0.0f)) / divisor, y,
                   (ptrdiff_t(unit) * s.ow + ox) * W, channel, s.c, epi);
      }
    }
  }
};

template <class S, class Epi>
using max_pool2d_nchw16c_bytes_avx512 = max_pool2d_bytes_t<16, S, Epi>;
template <class S, class Epi>
using max_pool2d_nchw8c_bytes_avx2 = max_pool2d_bytes_t<8, S, Epi>;
template <class S, class Epi>
using max_pool2d_nchw8c_bytes_rvv = max_pool2d_bytes_t<8, S, Epi>;
template <class S, class Epi>
using max_pool2d_nchw4c_bytes_sse4 = max_pool2d_bytes_t<4, S, Epi>;
template <class S, class Epi>
using max_pool2d_nchw4c_bytes_neon = max_pool2d_bytes_t<4, S, Epi>;
template <class S, class Epi>
using avg_pool2d_i32_nchw16c_avx512 = avg_pool2d_bytes_t<16, S, Epi>;
template <class S, class Epi>
using avg_pool2d_i32_nchw8c_avx2 = avg_pool2d_bytes_t<8, S, Epi>;
template <class S, class Epi>
using avg_pool2d_i32_nchw8c_rvv = avg_pool2d_bytes_t<8, S, Epi>;
template <class S, class Epi>
using avg_pool2d_i32_nchw4c_sse4 = avg_pool2d_bytes_t<4, S, Epi>;
template <class S, class Epi>
using avg_pool2d_i32_nchw4c_neon = avg_pool2d_bytes_t<4, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_BYTES_H
