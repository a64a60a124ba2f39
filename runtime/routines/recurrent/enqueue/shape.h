//===- shape.h - The shape of enqueue routines ----------------------------===//
#ifndef NNC_ROUTINES_RECURRENT_ENQUEUE_SHAPE_H
#define NNC_ROUTINES_RECURRENT_ENQUEUE_SHAPE_H

namespace nnc {

/// A queue x[outer][size], of which the first `count` elements of each row
/// leave, and new elements f[outer][count] that follow the others.
struct enqueue_shape {
  int outer, size, count;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("count", count);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_RECURRENT_ENQUEUE_SHAPE_H
