//===- shape.h - The shape of squared_distance routines -------------------===//
#ifndef NNC_ROUTINES_LEARNED_SQUARED_DISTANCE_SHAPE_H
#define NNC_ROUTINES_LEARNED_SQUARED_DISTANCE_SHAPE_H

namespace nnc {

/// Squared distances y[m][n] of the vectors x[m][k] and w[n][k].
struct squared_distance_shape {
  int m, n, k;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("m", m);
    f("n", n);
    f("k", k);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LEARNED_SQUARED_DISTANCE_SHAPE_H
