//===- portable.h - Scatter on any machine --------------------------------===//
//
// Copies x[size][inner] to y, then combines each updates[i][j] with
// y[positions[i]][j], in the order of i. kind: 0 replaces the element, 1 adds,
// 2 multiplies, 3 and 4 keep the larger and the smaller of both. Positions out
// of range are skipped, so that no input makes the routine write outside of y.
// y may be x. There is one unit, since positions may occur more than once.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_SCATTER_PORTABLE_H
#define NNC_ROUTINES_MOVES_SCATTER_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/simd/wrap.h"

#include <stdint.h>
#include <string.h>

namespace nnc {

template <class S, class Epi> struct scatter_portable {
  NNC_FN static constexpr int units(const S &) { return 1; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, const int64_t *positions,
                         const T *updates, T *y, const Epi &, int begin,
                         int end) {
    if (begin == end)
      return;
    if (x != y)
      memcpy(y, x,
             static_cast<size_t>(s.size) * static_cast<size_t>(s.inner) *
                 sizeof(T));
    for (int i = 0; i < s.count; ++i) {
      const int64_t position = positions[i];
      if (position < 0 || position >= s.size)
        continue;
      T *to = y + static_cast<ptrdiff_t>(position) * s.inner;
      const T *from = updates + ptrdiff_t(i) * s.inner;
      for (int j = 0; j < s.inner; ++j)
        to[j] = join(s.kind, to[j], from[j]);
    }
  }

private:
  template <class T> NNC_FN static T join(int kind, T old, T update) {
    switch (kind) {
    case 1:
      return plus(old, update);
    case 2:
      return times(old, update);
    case 3:
      return old < update || update != update ? update : old;
    case 4:
      return old > update || update != update ? update : old;
    default:
      return update;
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_SCATTER_PORTABLE_H
