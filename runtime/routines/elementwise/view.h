//===- view.h - The steps of a function of one input ----------------------===//
#ifndef NNC_ROUTINES_ELEMENTWISE_VIEW_H
#define NNC_ROUTINES_ELEMENTWISE_VIEW_H

#include "runtime/functions.h"

namespace nnc {

/// The view of blocks/transposes.h of the first input of a function.
template <class S> struct elementwise_view {
  const S &s;
  NNC_FN constexpr int rank() const { return s.rank; }
  NNC_FN constexpr int size(int d) const { return s.dims[d]; }
  NNC_FN constexpr int from(int d) const { return s.strides[0][d]; }
  NNC_FN constexpr int to(int d) const {
    int step = 1;
    for (int i = d + 1; i < s.rank; ++i)
      step *= s.dims[i];
    return step;
  }
  NNC_FN constexpr int from_offset() const { return 0; }
  NNC_FN constexpr int to_offset() const { return 0; }
};

} // namespace nnc

#endif // NNC_ROUTINES_ELEMENTWISE_VIEW_H
