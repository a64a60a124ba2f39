//===- shape.h - The shape of range routines ------------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_RANGE_SHAPE_H
#define NNC_ROUTINES_LENGTHS_RANGE_SHAPE_H

namespace nnc {

/// y[count] = start, start + step, start + 2 * step, ...
struct range_shape {
  int count, start, step;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("count", count);
    f("start", start);
    f("step", step);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_RANGE_SHAPE_H
