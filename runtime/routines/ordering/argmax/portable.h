//===- portable.h - Index of the largest or smallest element --------------===//
//
// y[outer][inner] is the index, along the middle axis of x[outer][size][inner],
// of its largest (smallest) element: the first of equal ones or, with
// select_last, the last. A unit is one element of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ORDERING_ARGMAX_PORTABLE_H
#define NNC_ROUTINES_ORDERING_ARGMAX_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <int SIGN, class S, class Epi> struct arg_extreme_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer * s.inner; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, int64_t *y, const Epi &,
                         int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const T *at =
          x + ptrdiff_t(unit / s.inner) * s.size * s.inner + unit % s.inner;
      T best = at[0];
      int index = 0;
      for (int i = 1; i < s.size; ++i) {
        const T v = at[ptrdiff_t(i) * s.inner];
        const bool better = SIGN > 0 ? v > best : v < best;
        if (better || (s.select_last && v == best)) {
          best = v;
          index = i;
        }
      }
      y[unit] = index;
    }
  }
};

template <class S, class Epi>
using argmax_portable = arg_extreme_portable<1, S, Epi>;
template <class S, class Epi>
using argmin_portable = arg_extreme_portable<-1, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_ORDERING_ARGMAX_PORTABLE_H
