//===- rows.h - Rows of a tensor of any rank ------------------------------===//
#ifndef NNC_ROUTINES_SHAPES_ROWS_H
#define NNC_ROUTINES_SHAPES_ROWS_H

#include "runtime/functions.h"

namespace nnc {

/// Number of rows of a tensor of s.rank axes: the indices of all axes but the
/// last.
template <class S> NNC_FN constexpr int count_rows(const S &s) {
  int rows = 1;
  for (int d = 0; d + 1 < s.rank; ++d)
    rows *= s.dims[d];
  return rows;
}

} // namespace nnc

#endif // NNC_ROUTINES_SHAPES_ROWS_H
