//===- shape.h - The shape of nonzero routines ----------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_NONZERO_SHAPE_H
#define NNC_ROUTINES_LENGTHS_NONZERO_SHAPE_H

namespace nnc {

/// The positions of the elements of x[size] that are not zero: y[0] is their
/// number, and y[1 + i] the i-th position. The rest of y[1 + size] is zero.
struct nonzero_shape {
  int size;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) { f("size", size); }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_NONZERO_SHAPE_H
