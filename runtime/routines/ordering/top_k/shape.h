//===- shape.h - The shape of top_k routines ------------------------------===//
#ifndef NNC_ROUTINES_ORDERING_TOP_K_SHAPE_H
#define NNC_ROUTINES_ORDERING_TOP_K_SHAPE_H

namespace nnc {

/// Indices y[outer][count][inner] of the `count` largest elements, or the
/// smallest, of x[outer][size][inner] along size, the best first.
struct top_k_shape {
  int outer, size, inner, count, largest;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("inner", inner);
    f("count", count);
    f("largest", largest);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_ORDERING_TOP_K_SHAPE_H
