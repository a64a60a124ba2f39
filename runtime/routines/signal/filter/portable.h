//===- portable.h - Filters along an axis on any machine ------------------===//
//
// y[o][i][j] = sum over t of weights[i][t] * x[o][starts[i] + t][j]: a banded
// matrix times each line of x along an axis, such as a resampling whose taps
// are known. A start is clamped so that all taps lie in x; no input makes the
// routine read outside of x. A unit is one pair of o and i.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_SIGNAL_FILTER_PORTABLE_H
#define NNC_ROUTINES_SIGNAL_FILTER_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct filter_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer * s.count; }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *x, const int64_t *starts,
                         const T *weights, T *y, const Epi &, int begin,
                         int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int i = unit % s.count;
      const T *const w = weights + ptrdiff_t(i) * s.taps;
      const int64_t most = s.size - s.taps;
      int64_t start = starts[i] < most ? starts[i] : most;
      start = start > 0 ? start : 0;
      const T *from = x + (ptrdiff_t(unit / s.count) * s.size +
                           static_cast<ptrdiff_t>(start)) *
                              s.inner;
      T *const to = y + ptrdiff_t(unit) * s.inner;
      for (int j = 0; j < s.inner; ++j)
        to[j] = w[0] * from[j];
      for (int t = 1; t < s.taps; ++t) {
        from += s.inner;
        for (int j = 0; j < s.inner; ++j)
          to[j] += w[t] * from[j];
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_SIGNAL_FILTER_PORTABLE_H
