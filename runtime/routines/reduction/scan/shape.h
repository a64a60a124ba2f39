//===- shape.h - The shape of cumsum and cumprod routines -----------------===//
#ifndef NNC_ROUTINES_REDUCTION_SCAN_SHAPE_H
#define NNC_ROUTINES_REDUCTION_SCAN_SHAPE_H

namespace nnc {

/// Sums (cumsum) or products (cumprod) of the elements of x[outer][size][inner]
/// along size, from the first up to each one, or with reverse from the last
/// down to it; with exclusive, without the element itself.
struct cumsum_shape {
  int outer, size, inner, exclusive, reverse;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("inner", inner);
    f("exclusive", exclusive);
    f("reverse", reverse);
  }
};
using cumprod_shape = cumsum_shape;

} // namespace nnc

#endif // NNC_ROUTINES_REDUCTION_SCAN_SHAPE_H
