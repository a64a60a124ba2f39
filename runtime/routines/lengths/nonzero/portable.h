//===- portable.h - Positions of elements that are not zero ---------------===//
//
// One pass over x, without a branch on the elements. NaN is not zero. There is
// one unit.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_NONZERO_PORTABLE_H
#define NNC_ROUTINES_LENGTHS_NONZERO_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct nonzero_portable {
  NNC_FN static constexpr int units(const S &) { return 1; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, int64_t *y, const Epi &,
                         int begin, int end) {
    if (begin == end)
      return;
    int64_t *found = y + 1;
    int count = 0;
    for (int i = 0; i < s.size; ++i) {
      // If x[i] is zero, the next position overwrites this entry.
      found[count] = i;
      count += x[i] != T(0) ? 1 : 0;
    }
    for (int i = count; i < s.size; ++i)
      found[i] = 0;
    y[0] = count;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_NONZERO_PORTABLE_H
