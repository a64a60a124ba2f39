//===- portable.h - Cumulative sums and products on any machine -----------===//
//
// y[o][i][j] is the sum (product) of x[o][k][j] for all k up to i, or with
// reverse for all from i on; with exclusive, k = i is left out, so that the
// first one is 0 (1). Terms are added in that order. A unit is one index o.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_REDUCTION_SCAN_PORTABLE_H
#define NNC_ROUTINES_REDUCTION_SCAN_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/wrap.h"

namespace nnc {

template <bool PRODUCT, class S, class Epi> struct cumulate_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    for (int unit = begin; unit < end; ++unit) {
      const ptrdiff_t start = ptrdiff_t(unit) * s.size * s.inner;
      for (int i = 0; i < s.size; ++i) {
        const int at = s.reverse ? s.size - 1 - i : i;
        const int before = s.reverse ? at + 1 : at - 1;
        const int term = s.exclusive ? before : at;
        T *sum = y + start + ptrdiff_t(at) * s.inner;
        const T *last = y + start + ptrdiff_t(before) * s.inner;
        const T *next = x + start + ptrdiff_t(term) * s.inner;
        if (i == 0) {
          for (int j = 0; j < s.inner; ++j)
            sum[j] = s.exclusive ? static_cast<T>(PRODUCT ? 1 : 0) : next[j];
          continue;
        }
        for (int j = 0; j < s.inner; ++j)
          sum[j] = PRODUCT ? times(last[j], next[j]) : plus(last[j], next[j]);
      }
    }
  }
};

template <class S, class Epi>
using cumsum_portable = cumulate_portable<false, S, Epi>;
template <class S, class Epi>
using cumprod_portable = cumulate_portable<true, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_REDUCTION_SCAN_PORTABLE_H
