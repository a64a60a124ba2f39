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
#include "runtime/functions.h"

namespace nnc {

/// A unit is a slice of `inner` elements, or with ByElement an element.
template <class S, class Epi, bool ByElement = false> struct gather_portable {
  using by_element = gather_portable<S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return s.outer * s.count * pieces(s);
  }

  template <class T, class I>
  NNC_FN static void run(const S &s, const T *x, const I *indices, T *y,
                         const Epi &, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int slice = unit / pieces(s);
      I index = indices[slice % s.count];
      index = index < 0 ? index + s.axis_size : index;
      index = index < 0 ? 0 : index;
      index = index >= s.axis_size ? s.axis_size - 1 : index;
      const T *from = x + (ptrdiff_t(slice / s.count) * s.axis_size +
                           static_cast<ptrdiff_t>(index)) *
                              s.inner;
      T *to = y + ptrdiff_t(slice) * s.inner;
      if constexpr (ByElement) {
        const int j = unit % s.inner;
        to[j] = s.axis_size == 0 ? T(0) : from[j];
      } else if (s.axis_size == 0)
        memset(to, 0, size_t(s.inner) * sizeof(T));
      else if (s.inner >= 16)
        memcpy(to, from, size_t(s.inner) * sizeof(T));
      else
        for (int j = 0; j < s.inner; ++j)
          to[j] = from[j];
    }
  }

private:
  /// Units of a slice.
  NNC_FN static constexpr int pieces(const S &s) {
    return ByElement ? s.inner : 1;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_GATHER_PORTABLE_H
