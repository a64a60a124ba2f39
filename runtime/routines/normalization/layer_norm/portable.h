//===- portable.h - Layer normalisation on any machine --------------------===//
//
// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over the last axis
// of x[outer][size]. The variance of floats is computed in a second pass, which
// avoids cancellation; that of integers follows from exact sums (moments.h). A
// unit is a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_LAYER_NORM_PORTABLE_H
#define NNC_ROUTINES_NORMALIZATION_LAYER_NORM_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/normalization/layer_norm/moments.h"
#include "runtime/simd/math.h"

namespace nnc {

template <class S, class Epi> struct layer_norm_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer; }

  /// T is float or double. X is T or an integer, whose elements are converted
  /// to T; for integers, Y is the result type of the epilogue on T.
  template <class X, class T, class Y>
  NNC_FN static void run(const S &s, const X *x, const T *scale, const T *bias,
                         Y *y, const Epi &epi, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t at = ptrdiff_t(unit) * s.size;
      const X *row = x + at;
      const row_moments<T> m = moments(s, row, T(s.epsilon));
      for (int i = 0; i < s.size; ++i)
        y[at + i] = epi((T(row[i]) - m.mean) * m.factor * scale[i] + bias[i],
                        position<true>{at + i, i});
    }
  }

private:
  template <class X, class T>
  NNC_FN static row_moments<T> moments(const S &s, const X *row, T epsilon) {
    if constexpr (is_integral<X>::value) {
      integer_sums sums;
      for (int i = 0; i < s.size; ++i)
        sums.add(row[i]);
      return sums.moments(s.size, epsilon);
    } else {
      const T mean = sum(s.size, [&](int i) { return T(row[i]); }) / T(s.size);
      const T variance =
          sum(s.size,
              [&](int i) { return (T(row[i]) - mean) * (T(row[i]) - mean); }) /
          T(s.size);
      return {mean, T(1) / nnc::sqrt(variance + epsilon)};
    }
  }

  /// Sums f(0) ... f(n - 1) in 16 parts, so that rounding errors stay small.
  template <class F>
  NNC_FN static auto sum(int n, F f) -> decltype(f(0) + 0.0f) {
    decltype(f(0) + 0.0f) partial[16] = {}, total = 0;
    for (int i = 0; i < n; ++i)
      partial[i % 16] += f(i);
    for (auto p : partial)
      total += p;
    return total;
  }
};

/// Layer normalization of integers.
template <class S, class Epi>
using layer_norm_i32_portable = layer_norm_portable<S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_LAYER_NORM_PORTABLE_H
