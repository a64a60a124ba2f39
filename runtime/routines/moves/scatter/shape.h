//===- shape.h - The shape of scatter routines ----------------------------===//
#ifndef NNC_ROUTINES_MOVES_SCATTER_SHAPE_H
#define NNC_ROUTINES_MOVES_SCATTER_SHAPE_H

namespace nnc {

/// Scatter of updates[count][inner] into a copy of x[size][inner] at
/// positions[count]. kind: 0 replaces the element, 1 adds, 2 multiplies, 3
/// keeps the larger of both, 4 the smaller of both.
struct scatter_shape {
  int size, inner, count, kind;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("size", size);
    f("inner", inner);
    f("count", count);
    f("kind", kind);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_SCATTER_SHAPE_H
