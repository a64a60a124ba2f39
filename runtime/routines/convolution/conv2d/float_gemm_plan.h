//===- float_gemm_plan.h - Tiles and memory of float_gemm.cuh -------------===//
//
// The plan of the kernel, for the code that launches it. A convolution is the
// product of a matrix with a row for each output pixel and one with a column
// for each filter; a term of a sum is (r * kw + s) * c + channel. Weights are
// w[panel][term][32] in panels of 32 filters (KRSC32k), of which the last one
// is padded by any numbers, such as zeros. For the product a[m][k] * b[k][n]
// they are the matrix b in panels of 32 columns, [n / 32][k][32].
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_FLOAT_GEMM_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_FLOAT_GEMM_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

#include <stddef.h>

namespace nnc {

/// Bytes of the weights of 32 filters for one term.
constexpr int float_gemm_block_bytes = gemm_panel * 4;

/// A block of threads computes ROWS x COLUMNS outputs, in steps of DEPTH_BYTES
/// bytes (DEPTH_BYTES / 4 terms) of each row. A warp computes WARP_ROWS outputs
/// of each filter of a panel, and a thread WARP_ROWS / 8 of 8 filters.
template <int ROWS, int COLUMNS, int DEPTH_BYTES, int WARP_ROWS, int STAGES>
using float_gemm_tile =
    gemm_tile<ROWS, COLUMNS, DEPTH_BYTES, WARP_ROWS, gemm_panel, STAGES>;

/// Number of elements of `bytes` bytes in a panel of the packed weights of a
/// product: those of floats are w[term][32], others in the order of fragments.
NNC_FN constexpr int packed_panel_elements(const matmul_as_conv2d &s,
                                           int bytes) {
  return bytes == 4 ? s.c * gemm_panel
                    : gemm_runs(s, bytes) * gemm_block_bytes / bytes;
}

/// Calls visit(column, term) for each element of these weights in turn.
/// `column` is -1 for an element that is zero.
template <class F>
void visit_packed_product(const matmul_as_conv2d &s, int bytes, F visit) {
  if (bytes != 4) {
    visit_gemm_weights(s, bytes, [&](int column, int term) {
      visit(term < s.c ? column : -1, term);
    });
    return;
  }
  for (int panel = 0; panel < gemm_panels(s); ++panel)
    for (int term = 0; term < s.c; ++term)
      for (int i = 0; i < gemm_panel; ++i) {
        const int column = panel * gemm_panel + i;
        visit(column < s.k ? column : -1, term);
      }
}

/// Returns true if the kernels can compute a convolution of this shape. x, w, y
/// and the operands of the epilogue are 16-byte aligned.
template <class S> NNC_FN constexpr bool float_gemm_applies(const S &s) {
  constexpr long long most = 1ll << 31;
  const long long rows = static_cast<long long>(s.n) * s.oh * s.ow;
  return s.groups == 1 && rows < most - (1 << 16) &&
         rows * ceil_div(s.k, 8) < most - (1 << 16) &&
         static_cast<long long>(s.n) * s.h * s.w < most / 2;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_FLOAT_GEMM_PLAN_H
