//===- shape.h - The shape of distinct routines ---------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_DISTINCT_SHAPE_H
#define NNC_ROUTINES_LENGTHS_DISTINCT_SHAPE_H

namespace nnc {

/// The distinct rows of x[rows][columns]. y[1 + 3 * rows] holds the number of
/// distinct rows, then three lists of `rows` numbers: for each distinct row the
/// index of its first occurrence; for each row the number of its distinct row;
/// and for each distinct row its number of occurrences. The first and the last
/// list are filled up with zeros. With `sorted` the distinct rows ascend, else
/// they are in the order of their first occurrence.
struct distinct_shape {
  int rows, columns, sorted;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rows", rows);
    f("columns", columns);
    f("sorted", sorted);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_DISTINCT_SHAPE_H
