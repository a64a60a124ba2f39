//===- portable.h - Packs matrices for dot products on any machine --------===//
//
// Copies matrices x to panels y of column_block columns, in which
// row_block elements of a column follow each other (shape.h). A unit is a panel
// of a matrix.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_PACK_PORTABLE_H
#define NNC_ROUTINES_MOVES_PACK_PORTABLE_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

template <class S, class Epi> struct pack_portable {
  NNC_FN static constexpr int units(const S &s) {
    return s.outer * ceil_div(s.columns, s.column_block);
  }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                         int end) {
    const int panels = ceil_div(s.columns, s.column_block);
    const int groups = ceil_div(s.rows, s.row_block);
    for (int unit = begin; unit < end; ++unit) {
      const int first = unit % panels * s.column_block;
      const int columns = smaller(s.column_block, s.columns - first);
      const ptrdiff_t down = s.by_columns ? 1 : s.columns,
                      right = s.by_columns ? s.rows : 1;
      const T *from =
          x + ptrdiff_t(unit / panels) * s.rows * s.columns + first * right;
      T *to = y + ptrdiff_t(unit) * groups * s.row_block * s.column_block;
      for (int g = 0; g < groups; ++g) {
        const int rows = smaller(s.row_block, s.rows - g * s.row_block);
        if (rows == s.row_block && columns == s.column_block) {
          // Compilers interleave whole vectors if the sizes are constants.
          for (int n = 0; n < s.column_block; ++n)
            for (int k = 0; k < s.row_block; ++k)
              to[n * s.row_block + k] = from[k * down + n * right];
        } else {
          for (int n = 0; n < s.column_block; ++n)
            for (int k = 0; k < s.row_block; ++k)
              to[n * s.row_block + k] =
                  n < columns && k < rows ? from[k * down + n * right] : T(0);
        }
        from += s.row_block * down;
        to += s.row_block * s.column_block;
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_PACK_PORTABLE_H
