//===- plan.h - How weights of 4 and 8 bits are packed --------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_PLAN_H
#define NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"

namespace nnc {

/// Weights of `BITS` bits are packed in panels of 32 columns, whatever the
/// width of vectors: words of 32 bits, each with consecutive weights of one
/// column, the first in the lowest bits. The words of the columns of a panel
/// lie side by side.
template <int BITS> struct block_words {
  static_assert(BITS == 4 || BITS == 8, "weights have 4 or 8 bits");
  static constexpr int columns = 32;        ///< of a panel
  static constexpr int weights = 32 / BITS; ///< in a word
  static constexpr int in_half = 16 / BITS; ///< in half a word

  /// Words of a column of k weights.
  NNC_FN static constexpr int count(int k) { return ceil_div(k, weights); }
  /// k, rounded up to whole words.
  NNC_FN static constexpr int padded(int k) { return count(k) * weights; }
  /// Bytes of a panel.
  NNC_FN static constexpr ptrdiff_t panel(int k) {
    return ptrdiff_t(count(k)) * columns * 4;
  }
};

/// Number of scales of a column.
template <class S> NNC_FN constexpr int block_groups(const S &s) {
  return ceil_div(s.k, s.block);
}

/// The division of a product into strips of rows of the result. Each thread
/// copies the rows of x of a strip to scratch, in the form in which the inner
/// loop reads them.
struct block_matmul_plan {
  int rows;         ///< rows of a strip
  ptrdiff_t copied; ///< bytes of the copy

  NNC_FN constexpr ptrdiff_t scratch(int threads) const {
    return whole_lines(copied) * threads;
  }
};

/// Plan for tiles of M rows.
template <class S>
NNC_FN constexpr block_matmul_plan plan_block_matmul(const S &s, int M) {
  constexpr int most = 256 * 1024;
  const int length = ceil_div(s.k, 8) * 8;
  const int rows = larger(M, most / (4 * length) / M * M);
  block_matmul_plan p{};
  p.rows = smaller(s.m, rows);
  p.copied = ptrdiff_t(4) * p.rows * length;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_BLOCK_MATMUL_PLAN_H
