//===- shape.h - The shape of join routines -------------------------------===//
#ifndef NNC_ROUTINES_MOVES_JOIN_SHAPE_H
#define NNC_ROUTINES_MOVES_JOIN_SHAPE_H

namespace nnc {

/// The most tensors that one call joins.
constexpr int max_joined = 8;

/// Concatenation of tensors along an axis, x0[rows][widths[0]],
/// x1[rows][widths[1]], ... -> y[rows][pitch], where pitch is the sum of all
/// widths: a row of y is the rows of the inputs one behind the other.
struct join_shape {
  int rows, pitch;
  int widths[max_joined];

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rows", rows);
    f("pitch", pitch);
    f("widths", widths);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_JOIN_SHAPE_H
