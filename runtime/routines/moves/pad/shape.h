//===- shape.h - The shape of pad routines --------------------------------===//
#ifndef NNC_ROUTINES_MOVES_PAD_SHAPE_H
#define NNC_ROUTINES_MOVES_PAD_SHAPE_H

#include "runtime/routines/shapes/values.h"

namespace nnc {

/// Padding of x[in_dims] to y[dims], both dense: y[i] = x[i - before]. Where
/// that is outside of x, the mode says what y[i] is: 0 `value`, 1 x reflected
/// at its edge elements, 2 the edge element, 3 x wrapped around. Negative
/// `before` crops.
struct pad_shape {
  int rank;
  int dims[max_axes], in_dims[max_axes], before[max_axes];
  int mode;
  float value;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rank", rank);
    f("dims", dims);
    f("in_dims", in_dims);
    f("before", before);
    f("mode", mode);
    f("value", value);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_PAD_SHAPE_H
