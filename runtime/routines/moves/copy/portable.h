//===- portable.h - Strided copy on any machine ---------------------------===//
//
// y[dst_offset + sum of i[d] * dst_strides[d]] =
//     x[src_offset + sum of i[d] * src_strides[d]] for all indices i < dims:
// the copy behind transpose, slice, expand and concat. Offsets and strides are
// in elements of any type. A unit is one index of all axes but the last.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_COPY_PORTABLE_H
#define NNC_ROUTINES_MOVES_COPY_PORTABLE_H

#include "runtime/functions.h"
#include "runtime/routines/moves/copy/row.h"
#include "runtime/routines/shapes/rows.h"

namespace nnc {

/// A unit is a row, or with ByElement an element.
template <class S, class Epi, bool ByElement = false> struct copy_portable {
  using by_element = copy_portable<S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return count_rows(s) * (ByElement ? s.dims[s.rank - 1] : 1);
  }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    const int last = s.rank - 1;
    const int width = s.dims[last];
    const ptrdiff_t from_step = s.src_strides[last];
    const ptrdiff_t to_step = s.dst_strides[last];
    for (int unit = begin; unit < end; ++unit) {
      ptrdiff_t from = s.src_offset, to = s.dst_offset;
      int rest = unit;
      if constexpr (ByElement) {
        from += rest % width * from_step;
        to += rest % width * to_step;
        rest /= width;
      }
      for (int d = last; d-- > 0; rest /= s.dims[d]) {
        from += ptrdiff_t(rest % s.dims[d]) * s.src_strides[d];
        to += ptrdiff_t(rest % s.dims[d]) * s.dst_strides[d];
      }
      if constexpr (ByElement)
        y[to] = x[from];
      else
        copy_row(x + from, from_step, y + to, to_step, width);
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_COPY_PORTABLE_H
