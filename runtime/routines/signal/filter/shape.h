//===- shape.h - The shape of filter routines -----------------------------===//
#ifndef NNC_ROUTINES_SIGNAL_FILTER_SHAPE_H
#define NNC_ROUTINES_SIGNAL_FILTER_SHAPE_H

namespace nnc {

/// Sums along an axis with weights of their own: x[outer][size][inner],
/// starts[count], weights[count][taps] -> y[outer][count][inner]. At most
/// `size` taps.
struct filter_shape {
  int outer, size, inner, count, taps;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("inner", inner);
    f("count", count);
    f("taps", taps);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_SIGNAL_FILTER_SHAPE_H
