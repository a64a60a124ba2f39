//===- codebook_plan.h - Weights as indices in tables ---------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_CODEBOOK_PLAN_H
#define NNC_ROUTINES_MATRIX_MATMUL_CODEBOOK_PLAN_H

#include "runtime/functions.h"

#include <stddef.h>

namespace nnc {

/// The layout of a panel: W columns of a matrix with at most 16 distinct
/// values. A table of the values is followed by W bytes for each pair of rows,
/// one byte per column. The lower half of a byte is the index in the table of
/// the first row's weight, the upper half that of the second row's.
struct codebook16 {
  static constexpr int values = 16;

  /// Bytes of the table.
  static constexpr int table = 4 * values;

  /// Bytes in front of the codes of row k, which is even.
  NNC_FN static constexpr ptrdiff_t codes(int k, int W) {
    return table + ptrdiff_t(k / 2) * W;
  }

  /// Bytes of a panel of k rows.
  NNC_FN static constexpr ptrdiff_t panel(int k, int W) {
    return codes(k + 1, W);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_CODEBOOK_PLAN_H
