//===- shape.h - The shape of det routines --------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_DET_SHAPE_H
#define NNC_ROUTINES_MATRIX_DET_SHAPE_H

namespace nnc {

/// Determinants y[batch] of matrices x[batch][n][n].
struct det_shape {
  int batch, n;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("batch", batch);
    f("n", n);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_DET_SHAPE_H
