//===- shape.h - The shape of pack routines -------------------------------===//
#ifndef NNC_ROUTINES_MOVES_PACK_SHAPE_H
#define NNC_ROUTINES_MOVES_PACK_SHAPE_H

namespace nnc {

/// A change of the layout of matrices, from row-major x[outer][rows][columns],
/// or x[outer][columns][rows] if `by_columns` is 1, to
/// y[outer][columns/column_block][rows/row_block][column_block][row_block], in
/// which dot products of row_block elements read them. Elements of y beyond the
/// last row or column are zero.
struct pack_shape {
  int outer, rows, columns, row_block, column_block, by_columns;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("rows", rows);
    f("columns", columns);
    f("row_block", row_block);
    f("column_block", column_block);
    f("by_columns", by_columns);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_PACK_SHAPE_H
