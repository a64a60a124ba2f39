//===- shape.h - The shape of stored_matmul routines ----------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_SHAPE_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_SHAPE_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/shape.h"

#include <stddef.h>

namespace nnc {

/// The order in which the elements of a matrix of weights are stored.
enum stored_order {
  /// Row by row: w[n][k].
  stored_rows,
  /// w[n / 4][k / 4][4 rows][4], where each four consecutive weights of a row
  /// are in the order first, third, second, fourth. The number of rows is
  /// padded to a multiple of four by repeating the last row.
  stored_quads
};

/// Number of stored elements of n rows of k weights.
NNC_FN constexpr ptrdiff_t stored_elements(int order, ptrdiff_t n,
                                           ptrdiff_t k) {
  return (order == stored_quads ? (n + 3) / 4 * 4 : n) * k;
}
/// Index of weight k of row n among the stored elements.
template <class S>
NNC_FN constexpr ptrdiff_t stored_place(const S &s, ptrdiff_t n, ptrdiff_t k) {
  if (s.order == stored_rows)
    return n * s.k + k;
  const ptrdiff_t in_four = k % 4 / 2 + k % 2 * 2;
  return (n / 4 * (s.k / 4) + k / 4) * 16 + n % 4 * 4 + in_four;
}

/// The largest number of weights that are decoded at a time. They stay in the
/// first-level cache.
constexpr int stored_tile = 4096;
/// Number of weights of short rows that are stored and decoded together. It is
/// large enough to make the overhead of a block negligible, and small enough
/// for small memories.
constexpr int stored_group = 1024;
/// Number of rows of k weights in one block: several if rows are short.
NNC_FN constexpr int stored_rows_together(int k) {
  return 2 * k <= stored_group ? stored_group / k : 1;
}

/// Product of a matrix and a compressed matrix: x[m][k] * w[n][k] -> y[m][n].
/// The fields from `form` on are those of decode_shape; `elements` includes the
/// rows of padding.
struct stored_matmul_shape {
  int m, n, k;
  int order; ///< a stored_order
  int form, elements, block, values, value_bits, gaps, gap_bits, entries;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("m", m);
    f("n", n);
    f("k", k);
    f("order", order);
    f("form", form);
    f("elements", elements);
    f("block", block);
    f("values", values);
    f("value_bits", value_bits);
    f("gaps", gaps);
    f("gap_bits", gap_bits);
    f("entries", entries);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_SHAPE_H
