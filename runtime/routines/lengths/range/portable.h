//===- portable.h - An arithmetic progression -----------------------------===//
//
// y[i] = x[0] + start + i * step, where x[0] only tells the type. A unit is an
// element.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_RANGE_PORTABLE_H
#define NNC_ROUTINES_LENGTHS_RANGE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct range_portable {
  NNC_FN static constexpr int units(const S &s) { return s.count; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    for (int i = begin; i < end; ++i)
      y[i] =
          static_cast<T>(x[0] + static_cast<T>(s.start + int64_t(i) * s.step));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_RANGE_PORTABLE_H
