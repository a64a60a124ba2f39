//===- portable.h - Gather on any machine ---------------------------------===//
//
// y[o][i][j] = x[o][index[i]][j] for x[outer][axis_size][inner] and `count`
// indices (int32 or int64); a negative index counts from the end. An index out
// of range is clamped, so that no input makes the routine read outside of x.
// Elements of an empty axis are zero. A unit is one pair of o and i.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_GATHER_PORTABLE_H
#define NNC_ROUTINES_MOVES_GATHER_PORTABLE_H

#include "runtime/epilogue.h"

namespace nnc {

template <class S, class Epi> struct gather_portable {
  static constexpr int units(const S &s) { return s.outer * s.count; }

  template <class T, class I>
  static void run(const S &s, const T *x, const I *indices, T *y, const Epi &,
                  int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      I index = indices[unit % s.count];
      index = index < 0 ? index + s.axis_size : index;
      index = index < 0 ? 0 : index;
      index = index >= s.axis_size ? s.axis_size - 1 : index;
      const T *from = x + (ptrdiff_t(unit / s.count) * s.axis_size +
                           static_cast<ptrdiff_t>(index)) *
                              s.inner;
      T *to = y + ptrdiff_t(unit) * s.inner;
      if (s.axis_size == 0)
        memset(to, 0, size_t(s.inner) * sizeof(T));
      else if (s.inner >= 16)
        memcpy(to, from, size_t(s.inner) * sizeof(T));
      else
        for (int j = 0; j < s.inner; ++j)
          to[j] = from[j];
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_GATHER_PORTABLE_H
