//===- shape.h - The shape of integer_softmax routines --------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_INTEGER_SOFTMAX_SHAPE_H
#define NNC_ROUTINES_NORMALIZATION_INTEGER_SOFTMAX_SHAPE_H

namespace nnc {

/// Softmax of integers along the last axis of x[outer][size], with a table of
/// `entries` exponentials.
struct integer_softmax_shape {
  int outer, size, entries;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("entries", entries);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_INTEGER_SOFTMAX_SHAPE_H
