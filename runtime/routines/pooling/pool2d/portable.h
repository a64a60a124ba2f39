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
#include "runtime/functions.h"
#include "runtime/routines/pooling/pool2d/taps.h"

namespace nnc {

/// Calls visit(plane, oy, ox, index) for each element of the units of [begin,
/// end) of a pooling. A unit is an element, or a plane of elements.
template <bool ByElement, class S, class F>
NNC_INLINE void for_each_pooled(const S &s, int begin, int end,
                                const F &visit) {
  const int size = s.oh * s.ow;
  for (int unit = begin; unit < end; ++unit)
    if constexpr (ByElement) {
      visit(unit / size, unit % size / s.ow, unit % s.ow, ptrdiff_t(unit));
    } else {
      ptrdiff_t at = ptrdiff_t(unit) * size;
      for (int oy = 0; oy < s.oh; ++oy)
        for (int ox = 0; ox < s.ow; ++ox, ++at)
          visit(unit, oy, ox, at);
    }
}

/// Max pooling, for elements of any type that has an order. A unit is a plane
/// of y, or with ByElement an element.
template <class S, class Epi, bool ByElement = false>
struct max_pool2d_portable {
  using by_element = max_pool2d_portable<S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return s.n * s.c * (ByElement ? s.oh * s.ow : 1);
  }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &epi,
                         int begin, int end) {
    for_each_pooled<ByElement>(
        s, begin, end, [&](int plane, int oy, int ox, ptrdiff_t at) {
          y[at] =
              epi(largest_tap(s, x + ptrdiff_t(plane) * s.h * s.w, 1,
                              pool_taps(s, oy * s.sh - s.pt, ox * s.sw - s.pl)),
                  position<false>{at, plane % s.c});
        });
  }
};

/// Sums are of type A and means of type T: float, double, or int32_t for means
/// of integers that are rounded to nearest, halves away from zero. Means in
/// float and int32_t take an epilogue, whose results have type Y. Sums of
/// integers, which are of type int32_t, wrap around. A unit is a plane of y, or
/// with ByElement an element.
template <class A, class T, class S, class Epi, bool ByElement = false>
struct avg_pool2d_portable {
  using by_element = avg_pool2d_portable<A, T, S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return s.n * s.c * (ByElement ? s.oh * s.ow : 1);
  }

  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, Y *y, const Epi &epi,
                         int begin, int end) {
    for_each_pooled<ByElement>(
        s, begin, end, [&](int plane, int oy, int ox, ptrdiff_t at) {
          const pool_taps taps(s, oy * s.sh - s.pt, ox * s.sw - s.pl);
          const X *from = x + ptrdiff_t(plane) * s.h * s.w;
          y[at] = epi(
              mean_of_taps<T>(sum_of_taps<A>(s, from, 1, taps), taps.count(s)),
              position<false>{at, plane % s.c});
        });
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
