//===- portable.h - Elements plus an integer each -------------------------===//
//
// y[i] = x[i] + values[i], for integers that depend on the sizes of a run.
// There is one unit.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_OFFSET_PORTABLE_H
#define NNC_ROUTINES_LENGTHS_OFFSET_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

template <class S, class Epi> struct offset_portable {
  NNC_FN static constexpr int units(const S &) { return 1; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    if (begin == end)
      return;
    for (int i = 0; i < s.count; ++i)
      y[i] = static_cast<T>(x[i] + static_cast<T>(s.values[i]));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_OFFSET_PORTABLE_H
