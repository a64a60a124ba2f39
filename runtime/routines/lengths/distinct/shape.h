//===- shape.h - The shape of distinct routines ---------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_DISTINCT_SHAPE_H
#define NNC_ROUTINES_LENGTHS_DISTINCT_SHAPE_H

namespace nnc {

/// The distinct rows of x[rows][columns]. y[1 + 3 * rows] holds how many there
/// are, then three lists of `rows` numbers: the index of the first row that is
/// like each, for each row which of them it is like, and how many rows are like
/// each. The first and the last list end in zeros. With `sorted` the distinct
/// rows ascend, else they are in the order of their first occurrence.
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
