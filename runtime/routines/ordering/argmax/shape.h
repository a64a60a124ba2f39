//===- shape.h - The shape of argmax routines -----------------------------===//
#ifndef NNC_ROUTINES_ORDERING_ARGMAX_SHAPE_H
#define NNC_ROUTINES_ORDERING_ARGMAX_SHAPE_H

namespace nnc {

/// Index y[outer][inner] of the largest (argmax) or smallest (argmin) element
/// of x[outer][size][inner] along size: the first such, or the last if
/// select_last.
struct argmax_shape {
  int outer, size, inner, select_last;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("inner", inner);
    f("select_last", select_last);
  }
};
using argmin_shape = argmax_shape;

} // namespace nnc

#endif // NNC_ROUTINES_ORDERING_ARGMAX_SHAPE_H
