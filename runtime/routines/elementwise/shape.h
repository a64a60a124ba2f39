//===- shape.h - The shape of elementwise routines ------------------------===//
#ifndef NNC_ROUTINES_ELEMENTWISE_SHAPE_H
#define NNC_ROUTINES_ELEMENTWISE_SHAPE_H

#include "runtime/routines/shapes/values.h"

namespace nnc {

/// Elementwise function: y[i] = f(x0[i . strides[0]], x1[i . strides[1]], ...)
/// for every index i below dims; y is dense. Strides are in elements, 0 where
/// an input is broadcast. Where y is images in a blocked layout, `planes` is
/// the number of planes that the outer dims count, and `pixels` the number of
/// pixels of each; otherwise both are 1.
struct elementwise_shape {
  int rank;
  int dims[max_axes], strides[max_elementwise_inputs][max_axes];
  int planes, pixels;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rank", rank);
    f("dims", dims);
    f("strides", strides);
    f("planes", planes);
    f("pixels", pixels);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_ELEMENTWISE_SHAPE_H
