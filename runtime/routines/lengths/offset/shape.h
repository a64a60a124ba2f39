//===- shape.h - The shape of offset routines -----------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_OFFSET_SHAPE_H
#define NNC_ROUTINES_LENGTHS_OFFSET_SHAPE_H

namespace nnc {

constexpr int max_offsets = 16;

/// y[count] = x[count] + values.
struct offset_shape {
  int count;
  int values[max_offsets];

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("count", count);
    f("values", values);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_OFFSET_SHAPE_H
