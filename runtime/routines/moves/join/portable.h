//===- portable.h - Concatenation of several tensors ----------------------===//
//
// y[r][widths[0] + ... + widths[i - 1] + j] = x_i[r][j] for rows r, inputs i
// and j < widths[i]. GPUs use it, where one launch for all inputs matters; on
// CPUs a concatenation consists of copies. A unit is one element of y.
//
// Called as run(s, x0, x1, ..., y, epi, begin, end).
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_JOIN_PORTABLE_H
#define NNC_ROUTINES_MOVES_JOIN_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"

namespace nnc {

/// Returns the place of element `column` of row `row` of the concatenation of
/// the tensors x.
template <size_t... I, class S, class... X>
NNC_INLINE auto joined_place(index_sequence<I...>, const S &s, int row,
                             int column, const X *...x) {
  const void *place = nullptr;
  int start = 0;
  const auto visit = [&](auto *from, int width) {
    if (column >= start && column < start + width)
      place = from + ptrdiff_t(row) * width + (column - start);
    start += width;
  };
  (visit(x, s.widths[I]), ...);
  return place;
}

template <class S, class Epi> struct join_portable {
  NNC_FN static constexpr int units(const S &s) { return s.rows * s.pitch; }

  template <class... A> NNC_FN static void run(const S &s, A... arguments) {
    static_assert(sizeof...(A) > 4, "inputs, y, epilogue, begin, end");
    rotate<sizeof...(A) - 4>(s, arguments...);
  }

private:
  /// Moves `Inputs` arguments behind the others, where a parameter pack can
  /// take them.
  template <size_t Inputs, class First, class... Rest>
  NNC_FN static void rotate(const S &s, First first, Rest... rest) {
    if constexpr (Inputs == 0)
      over_units(s, first, rest...);
    else
      rotate<Inputs - 1>(s, rest..., first);
  }
  template <class T, class... X>
  NNC_FN static void over_units(const S &s, T *y, const Epi &, int begin,
                                int end, const X *...x) {
    for (int unit = begin; unit < end; ++unit)
      y[unit] = *static_cast<const T *>(joined_place(
          index_sequence_for<X...>{}, s, unit / s.pitch, unit % s.pitch, x...));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_JOIN_PORTABLE_H
