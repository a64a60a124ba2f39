//===- shape.h - The shape of table_softmax routines ----------------------===//
#ifndef NNC_ROUTINES_NORMALIZATION_TABLE_SOFTMAX_SHAPE_H
#define NNC_ROUTINES_NORMALIZATION_TABLE_SOFTMAX_SHAPE_H

namespace nnc {

/// Softmax of integers of 16 bits along the last axis of x[outer][size].
/// Differences times multiplier * 2^(shift - 31), rounded once with `single`,
/// else twice, are in units of 10 / 65535.
struct table_softmax_shape {
  int outer, size, multiplier, shift, single;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("multiplier", multiplier);
    f("shift", shift);
    f("single", single);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_NORMALIZATION_TABLE_SOFTMAX_SHAPE_H
