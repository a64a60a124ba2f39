//===- shape.h - The shape of softmax routines ----------------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_SOFTMAX_SHAPE_H
#define NNC_ROUTINES_NORMALIZATION_SOFTMAX_SHAPE_H

namespace nnc {

/// Softmax over the middle axis of x[outer][size][inner], or, with log, its
/// logarithm.
struct softmax_shape {
  int outer, size, inner, log;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("inner", inner);
    f("log", log);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_SOFTMAX_SHAPE_H
