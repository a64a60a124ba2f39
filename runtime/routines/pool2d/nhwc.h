//===- nhwc.h - 2-D pooling of images in NHWC on any machine --------------===//
//
// The layers of portable.h on x[n][h][w][c] and y[n][oh][ow][c]. A unit is a
// row of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOL2D_NHWC_H
#define NNC_ROUTINES_POOL2D_NHWC_H

#include "runtime/epilogue.h"
#include "runtime/routines/pool2d/window.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// Max pooling, for elements of any type that has an order.
template <class S, class Epi> struct max_pool2d_nhwc_portable {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &epi, int begin,
                  int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      const int top = unit % s.oh * s.sh - s.pt;
      const pool_range rows(top, s.dh, s.kh, 0, s.h);
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.c;
      for (int ox = 0; ox < s.ow; ++ox) {
        const int left = ox * s.sw - s.pl;
        const pool_range columns(left, s.dw, s.kw, 0, s.w);
        for (int c = 0; c < s.c; ++c, ++at) {
          T best{};
          bool first = true;
          for (int i = rows.from; i < rows.to; ++i)
            for (int j = columns.from; j < columns.to; ++j) {
              const T v =
                  image[(ptrdiff_t(top + i * s.dh) * s.w + left + j * s.dw) *
                            s.c +
                        c];
              // The comparison keeps a NaN, and lets one replace any other.
              best = first || !(v <= best) ? (best != best ? best : v) : best;
              first = false;
            }
          y[at] = epi(best, position<true>{at, c});
        }
      }
    }
  }
};

/// Sums of type A and means of type T, as of avg_pool2d_portable.
template <class A, class T, class S, class Epi> struct avg_pool2d_nhwc {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class X, class Y>
  static void run(const S &s, const X *x, Y *y, const Epi &epi, int begin,
                  int end) {
    for (int unit = begin; unit < end; ++unit) {
      const X *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      const int top = unit % s.oh * s.sh - s.pt;
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.c;
      for (int ox = 0; ox < s.ow; ++ox) {
        const int left = ox * s.sw - s.pl;
        const int count = get_count(s, top, left);
        for (int c = 0; c < s.c; ++c, ++at)
          y[at] = epi(divide(get_sum(s, image + c, top, left), count),
                      position<true>{at, c});
      }
    }
  }

private:
  static int get_count(const S &s, int top, int left) {
    if (s.count_include_pad)
      return pool_range(top, s.dh, s.kh, -s.pt, s.h + s.pb).count() *
             pool_range(left, s.dw, s.kw, -s.pl, s.w + s.pr).count();
    return pool_range(top, s.dh, s.kh, 0, s.h).count() *
           pool_range(left, s.dw, s.kw, 0, s.w).count();
  }
  template <class X>
  static A get_sum(const S &s, const X *x, int top, int left) {
    const pool_range rows(top, s.dh, s.kh, 0, s.h);
    const pool_range columns(left, s.dw, s.kw, 0, s.w);
    A sum = A(0);
    for (int i = rows.from; i < rows.to; ++i) {
      const X *row = x + (ptrdiff_t(top + i * s.dh) * s.w + left) * s.c;
      A row_sum = A(0);
      for (int j = columns.from; j < columns.to; ++j)
        row_sum = plus(row_sum, static_cast<A>(row[j * s.dw * s.c]));
      sum = plus(sum, row_sum);
    }
    return sum;
  }
  static T divide(A sum, int count) {
    if (count == 0)
      return T(0);
    if constexpr (is_int<T>)
      return static_cast<T>((sum > 0 ? sum + count / 2 : sum - count / 2) /
                            count);
    else
      return static_cast<T>(sum) / static_cast<T>(count);
  }
};

template <class S, class Epi>
using avg_pool2d_f32_nhwc_portable = avg_pool2d_nhwc<float, float, S, Epi>;
/// Means of integers: in float, or rounded to integers.
template <class S, class Epi>
using avg_pool2d_i32_nhwc_portable = avg_pool2d_nhwc<int32_t, float, S, Epi>;
template <class S, class Epi>
using avg_pool2d_rounded_nhwc_portable =
    avg_pool2d_nhwc<int32_t, int32_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOL2D_NHWC_H
