//===- portable.h - 2-D pooling on any machine ----------------------------===//
//
// Pooling with windows of kh x kw taps over plain NCHW. A maximum never comes
// from padding, and is NaN where a NaN is in the window. A mean divides by the
// number of taps inside x or, with count_include_pad, inside the padded input
// (pt, pl, pb, pr); taps that ceil_mode adds beyond the padding never count. A
// unit is a plane.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_PORTABLE_H
#define NNC_ROUTINES_POOLING_POOL2D_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/routines/pooling/pool2d/taps.h"

namespace nnc {

/// Max pooling, for elements of any type that has an order.
template <class S, class Epi> struct max_pool2d_portable {
  static constexpr int units(const S &s) { return s.n * s.c; }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &epi, int begin,
                  int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *plane = x + ptrdiff_t(unit) * s.h * s.w;
      ptrdiff_t at = ptrdiff_t(unit) * s.oh * s.ow;
      for (int oy = 0; oy < s.oh; ++oy)
        for (int ox = 0; ox < s.ow; ++ox, ++at)
          y[at] =
              epi(largest_tap(s, plane, 1,
                              pool_taps(s, oy * s.sh - s.pt, ox * s.sw - s.pl)),
                  position<false>{at, unit % s.c});
    }
  }
};

/// Sums are of type A and means of type T: float, double, or int32_t for means
/// of integers that are rounded to nearest, halves away from zero. Means in
/// float and int32_t take an epilogue, whose results have type Y. Sums of
/// integers, which are of type int32_t, wrap around.
template <class A, class T, class S, class Epi> struct avg_pool2d_portable {
  static constexpr int units(const S &s) { return s.n * s.c; }

  template <class X, class Y>
  static void run(const S &s, const X *x, Y *y, const Epi &epi, int begin,
                  int end) {
    for (int unit = begin; unit < end; ++unit) {
      const X *plane = x + ptrdiff_t(unit) * s.h * s.w;
      ptrdiff_t at = ptrdiff_t(unit) * s.oh * s.ow;
      for (int oy = 0; oy < s.oh; ++oy)
        for (int ox = 0; ox < s.ow; ++ox, ++at) {
          const pool_taps taps(s, oy * s.sh - s.pt, ox * s.sw - s.pl);
          y[at] = epi(
              mean_of_taps<T>(sum_of_taps<A>(s, plane, 1, taps), taps.count(s)),
              position<false>{at, unit % s.c});
        }
    }
  }
};

template <class S, class Epi>
using avg_pool2d_f32_portable = avg_pool2d_portable<float, float, S, Epi>;
template <class S, class Epi>
using avg_pool2d_f64_portable = avg_pool2d_portable<double, double, S, Epi>;
/// Means of integers.
template <class S, class Epi>
using avg_pool2d_i32_portable = avg_pool2d_portable<int32_t, float, S, Epi>;
template <class S, class Epi>
using avg_pool2d_rounded_portable =
    avg_pool2d_portable<int32_t, int32_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_PORTABLE_H
