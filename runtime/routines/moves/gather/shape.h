//===- shape.h - The shape of gather routines -----------------------------===//
#ifndef NNC_ROUTINES_MOVES_GATHER_SHAPE_H
#define NNC_ROUTINES_MOVES_GATHER_SHAPE_H

namespace nnc {

/// Gather along an axis: data[outer][axis_size][inner], indices[count] ->
/// y[outer][count][inner]. Negative indices count from the end.
struct gather_shape {
  int outer, axis_size, inner, count;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("axis_size", axis_size);
    f("inner", inner);
    f("count", count);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_GATHER_SHAPE_H
