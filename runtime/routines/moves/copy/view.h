//===- view.h - The steps of a strided copy -------------------------------===//
#ifndef NNC_ROUTINES_MOVES_COPY_VIEW_H
#define NNC_ROUTINES_MOVES_COPY_VIEW_H

#include "runtime/functions.h"

namespace nnc {

/// The view of blocks/transposes.h of a copy.
template <class S> struct copy_view {
  const S &s;
  NNC_FN constexpr int rank() const { return s.rank; }
  NNC_FN constexpr int size(int d) const { return s.dims[d]; }
  NNC_FN constexpr int from(int d) const { return s.src_strides[d]; }
  NNC_FN constexpr int to(int d) const { return s.dst_strides[d]; }
  NNC_FN constexpr int from_offset() const { return s.src_offset; }
  NNC_FN constexpr int to_offset() const { return s.dst_offset; }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_COPY_VIEW_H
