//===- shape.h - The shape of couple_probabilities routines ---------------===//
#ifndef NNC_ROUTINES_LEARNED_COUPLE_PROBABILITIES_SHAPE_H
#define NNC_ROUTINES_LEARNED_COUPLE_PROBABILITIES_SHAPE_H

namespace nnc {

/// Probabilities y[rows][classes] made of x[rows][pairs], which hold for each
/// pair of classes, (0, 1), (0, 2), ... (1, 2), ..., the probability of the
/// first of both if it is one of these.
struct couple_probabilities_shape {
  int rows, classes;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rows", rows);
    f("classes", classes);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LEARNED_COUPLE_PROBABILITIES_SHAPE_H
