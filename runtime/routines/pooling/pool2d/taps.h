//===- taps.h - The maximum and the mean of a pooling window --------------===//
//
// Functions that the portable routines share, whatever the layout of an image:
// its pixels are `step` elements apart, and its rows s.w pixels.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_POOLING_POOL2D_TAPS_H
#define NNC_ROUTINES_POOLING_POOL2D_TAPS_H

#include "runtime/functions.h"
#include "runtime/routines/pooling/pool2d/window.h"
#include "runtime/simd/vec_portable.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// The taps inside the image of a window whose first tap is at (top, left).
struct pool_taps {
  int top, left;
  pool_range rows, columns;
  template <class S>
  NNC_FN constexpr pool_taps(const S &s, int first_row, int first_column)
      : top(first_row), left(first_column), rows(first_row, s.dh, s.kh, 0, s.h),
        columns(first_column, s.dw, s.kw, 0, s.w) {}

  /// Returns the number of taps by which a mean divides.
  template <class S> NNC_FN constexpr int count(const S &s) const {
    if (s.count_include_pad)
      return pool_range(top, s.dh, s.kh, -s.pt, s.h + s.pb).count() *
             pool_range(left, s.dw, s.kw, -s.pl, s.w + s.pr).count();
    return rows.count() * columns.count();
  }
};

/// Returns the largest element of a window, which is NaN where it has a NaN.
template <class S, class T>
NNC_INLINE T largest_tap(const S &s, const T *x, int step,
                         const pool_taps &taps) {
  T best{};
  bool first = true;
  for (int i = taps.rows.from; i < taps.rows.to; ++i)
    for (int j = taps.columns.from; j < taps.columns.to; ++j) {
      const T v =
          x[(ptrdiff_t(taps.top + i * s.dh) * s.w + taps.left + j * s.dw) *
            step];
      // The comparison keeps a NaN, and lets one replace any other value.
      best = first || !(v <= best) ? (best != best ? best : v) : best;
      first = false;
    }
  return best;
}

/// Returns the sum of a window, of type A: the sum of the sums of its rows.
template <class A, class S, class X>
NNC_INLINE A sum_of_taps(const S &s, const X *x, int step,
                         const pool_taps &taps) {
  A sum = A(0);
  for (int i = taps.rows.from; i < taps.rows.to; ++i) {
    const X *row =
        x + (ptrdiff_t(taps.top + i * s.dh) * s.w + taps.left) * step;
    A row_sum = A(0);
    for (int j = taps.columns.from; j < taps.columns.to; ++j)
      row_sum = plus(row_sum, static_cast<A>(row[j * s.dw * step]));
    sum = plus(sum, row_sum);
  }
  return sum;
}

/// Returns the mean of `count` numbers; zero if `count` is 0. Integers are
/// rounded to nearest, halves away from zero.
template <class T, class A> NNC_FN constexpr T mean_of_taps(A sum, int count) {
  if (count == 0)
    return T(0);
  if constexpr (is_int<T>)
    return static_cast<T>((sum > 0 ? sum + count / 2 : sum - count / 2) /
                          count);
  else
    return static_cast<T>(sum) / static_cast<T>(count);
}

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_POOL2D_TAPS_H
