//===- row.h - A row of a strided copy ------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_COPY_ROW_H
#define NNC_ROUTINES_MOVES_COPY_ROW_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

namespace nnc {

/// Copies a strided row: y[i * y_step] = x[i * x_step] for i < n.
template <class T>
NNC_INLINE void copy_row(const T *x, ptrdiff_t x_step, T *y, ptrdiff_t y_step,
                         int n) {
  if (x_step == 1 && y_step == 1 && x != y) {
    memcpy(y, x, size_t(n) * sizeof(T));
    return;
  }
  for (int i = 0; i < n; ++i)
    y[i * y_step] = x[i * x_step];
}

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_COPY_ROW_H
