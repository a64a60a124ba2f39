//===- portable.h - Appends to a queue on any machine ---------------------===//
//
// y[o][i] = x[o][i + count], and the last `count` elements of a row are f[o].
// y may be x: a row is moved from its start. A unit is a row.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_ENQUEUE_PORTABLE_H
#define NNC_ROUTINES_RECURRENT_ENQUEUE_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

template <class S, class Epi> struct enqueue_portable {
  NNC_FN static constexpr int units(const S &s) { return s.outer; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, const T *f, T *y, const Epi &,
                         int begin, int end) {
    const int kept = s.size - s.count;
    for (int unit = begin; unit < end; ++unit) {
      const T *from = x + ptrdiff_t(unit) * s.size;
      const T *added = f + ptrdiff_t(unit) * s.count;
      T *to = y + ptrdiff_t(unit) * s.size;
      for (int i = 0; i < kept; ++i)
        to[i] = from[i + s.count];
      for (int i = 0; i < s.count; ++i)
        to[kept + i] = added[i];
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_ENQUEUE_PORTABLE_H
