//===- nhwc.h - 2-D pooling of images in NHWC on any machine --------------===//
//
// The layers of portable.h on x[n][h][w][c] and y[n][oh][ow][c]. A unit is a
// row of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_NHWC_H
#define NNC_ROUTINES_POOLING_POOL2D_NHWC_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/pooling/pool2d/taps.h"

namespace nnc {

/// Max pooling, for elements of any type that has an order.
template <class S, class Epi> struct max_pool2d_nhwc_portable {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      const int top = unit % s.oh * s.sh - s.pt;
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.c;
      for (int ox = 0; ox < s.ow; ++ox) {
        const pool_taps taps(s, top, ox * s.sw - s.pl);
        for (int c = 0; c < s.c; ++c, ++at)
          y[at] =
              epi(largest_tap(s, image + c, s.c, taps), position<true>{at, c});
      }
    }
  }
};

/// Average pooling with sums of type A and means of type T, like
/// avg_pool2d_portable.
template <class A, class T, class S, class Epi> struct avg_pool2d_nhwc {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, Y *y, const Epi &epi,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const X *image = x + ptrdiff_t(unit / s.oh) * s.h * s.w * s.c;
      const int top = unit % s.oh * s.sh - s.pt;
      ptrdiff_t at = ptrdiff_t(unit) * s.ow * s.c;
      for (int ox = 0; ox < s.ow; ++ox) {
        const pool_taps taps(s, top, ox * s.sw - s.pl);
        const int count = taps.count(s);
        for (int c = 0; c < s.c; ++c, ++at)
          y[at] = epi(
              mean_of_taps<T>(sum_of_taps<A>(s, image + c, s.c, taps), count),
              position<true>{at, c});
      }
    }
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

#endif // NNC_ROUTINES_POOLING_POOL2D_NHWC_H
