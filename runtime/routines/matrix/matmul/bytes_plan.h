//===- bytes_plan.h - How a product of matrices of bytes is cut -----------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_BYTES_PLAN_H
#define NNC_ROUTINES_MATRIX_MATMUL_BYTES_PLAN_H

#include "runtime/counts.h"

#include <stddef.h>

namespace nnc {

/// The division of a product into strips of rows of the result. The rows of a
/// that belong to a strip are copied to scratch, in the form in which the inner
/// loop reads them.
struct matmul_bytes_plan {
  int length;       ///< elements per row of the copy
  int rows;         ///< rows of a strip
  int strips;       ///< strips of a matrix
  ptrdiff_t copied; ///< bytes of the copy

  constexpr ptrdiff_t scratch(int threads) const {
    return whole_lines(copied) * threads;
  }
};

/// Plan for elements of `bytes` bytes in groups of G, and tiles of M rows.
template <class S>
constexpr matmul_bytes_plan plan_matmul_bytes(const S &s, int G, int bytes,
                                              int M) {
  constexpr int most = 64 * 1024;
  matmul_bytes_plan p{};
  p.length = ceil_div(s.k, G) * G;
  const int fit = larger(M, most / (p.length * bytes) / M * M);
  p.strips = ceil_div(s.m, fit);
  p.rows = smaller(s.m, ceil_div(ceil_div(s.m, p.strips), M) * M);
  p.strips = ceil_div(s.m, p.rows);
  p.copied = ptrdiff_t(p.rows) * p.length * bytes;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_BYTES_PLAN_H
