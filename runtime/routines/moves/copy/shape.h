//===- shape.h - The shape of copy routines -------------------------------===//
#ifndef NNC_ROUTINES_MOVES_COPY_SHAPE_H
#define NNC_ROUTINES_MOVES_COPY_SHAPE_H

#include "runtime/routines/shapes/values.h"

namespace nnc {

/// Strided copy: for every index i below dims,
///   y[dst_offset + i . dst_strides] = x[src_offset + i . src_strides].
/// It serves transpose, slice, expand, concat and layout changes. Offsets and
/// strides are in elements; strides may be 0 or negative.
struct copy_shape {
  int rank;
  int dims[max_axes], src_strides[max_axes], dst_strides[max_axes];
  int src_offset, dst_offset;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rank", rank);
    f("dims", dims);
    f("src_strides", src_strides);
    f("dst_strides", dst_strides);
    f("src_offset", src_offset);
    f("dst_offset", dst_offset);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_COPY_SHAPE_H
