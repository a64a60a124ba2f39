//===- portable.h - Padding on any machine --------------------------------===//
//
// x, of size `in_dims`, begins at index `before` of y, of size `dims`; negative
// values crop x. Elements of y outside x are `value` (mode 0), x mirrored at
// its edge without repeating the edge element (1), the nearest element (2), or
// x repeated (3). A unit is one index of all axes but the last.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_PAD_PORTABLE_H
#define NNC_ROUTINES_MOVES_PAD_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/moves/pad/source.h"
#include "runtime/routines/shapes/rows.h"

namespace nnc {

/// A unit is a row, or with ByElement an element.
template <class S, class Epi, bool ByElement = false> struct pad_portable {
  using by_element = pad_portable<S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return count_rows(s) * pieces(s);
  }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    const int last = s.rank - 1;
    for (int unit = begin; unit < end; ++unit) {
      ptrdiff_t from = 0, stride = s.in_dims[last];
      bool inside = true;
      const int line = unit / pieces(s);
      for (int d = last, rest = line; d-- > 0; rest /= s.dims[d]) {
        const int at = pad_source(s, d, rest % s.dims[d]);
        inside = inside && at >= 0;
        from += at * stride;
        stride *= s.in_dims[d];
      }
      T *row = y + ptrdiff_t(line) * s.dims[last];
      const int first = ByElement ? unit % s.dims[last] : 0;
      const int count = ByElement ? 1 : s.dims[last];
      for (int i = first; i < first + count; ++i) {
        const int at = pad_source(s, last, i);
        row[i] = inside && at >= 0 ? x[from + at] : static_cast<T>(s.value);
      }
    }
  }

private:
  /// Units of a row.
  NNC_FN static constexpr int pieces(const S &s) {
    return ByElement ? s.dims[s.rank - 1] : 1;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_PAD_PORTABLE_H
