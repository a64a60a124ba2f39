//===- plain_gemm_plan.h - Tiles and grids of plain_gemm.cuh --------------===//
//
// The plan of the kernel, for the code that launches it. Its tiles are those of
// implicit_gemm_plan.h. Each operand is a batch of row-major matrices in
// memory; with transpose_a or transpose_b, a row of the matrix in memory is a
// term of the sums, or a column of b.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_PLAN_H
#define NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_PLAN_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

#include <stddef.h>

namespace nnc {

/// A batch of products as a convolution with a group for each product, for the
/// estimates of catalogue/blocks.h.
struct products_as_groups {
  static constexpr int n = 1, h = 1, kh = 1, kw = 1, sh = 1, sw = 1, dh = 1,
                       dw = 1, pt = 0, pl = 0, oh = 1, fill = 0;
  int w, ow, c, k, groups;
  template <class S>
  explicit constexpr products_as_groups(const S &s)
      : w(s.m), ow(s.m), c(s.k * s.batch), k(s.n * s.batch), groups(s.batch) {}
};

/// A batch of products as one taller product, whose rows are those of all
/// results, for what is done with its sums.
template <class S>
NNC_FN constexpr matmul_as_conv2d products_as_rows(const S &s) {
  return matmul_as_conv2d(s.batch * s.m, s.n, s.k);
}

/// Number of elements in a row of the left and of the right matrix in memory.
template <class S> NNC_FN constexpr int left_row_length(const S &s) {
  return s.transpose_a ? s.m : s.k;
}
template <class S> NNC_FN constexpr int right_row_length(const S &s) {
  return s.transpose_b ? s.k : s.n;
}

/// True if all rows of the left, or of the right, operand are whole chunks of
/// `elements` elements, which are aligned if the operand is.
template <class S>
NNC_FN constexpr bool left_has_whole_chunks(const S &s, int elements) {
  return left_row_length(s) % elements == 0 && s.a_batch_stride % elements == 0;
}
template <class S>
NNC_FN constexpr bool right_has_whole_chunks(const S &s, int elements) {
  return right_row_length(s) % elements == 0 &&
         s.b_batch_stride % elements == 0;
}
template <class S>
NNC_FN constexpr bool has_whole_chunks(const S &s, int elements) {
  return left_has_whole_chunks(s, elements) &&
         right_has_whole_chunks(s, elements);
}

/// Returns true if the kernel can compute products of this shape: the grid has
/// a row of blocks for each, and rows of results are counted in 32 bits.
template <class S> constexpr bool plain_gemm_applies(const S &s) {
  constexpr long long most = 1ll << 31;
  const long long rows = static_cast<long long>(s.batch) * s.m;
  return s.batch < (1 << 16) && rows * ceil_div(s.n, 8) < most - (1 << 16);
}

/// The grid of the kernel: x counts the tiles of a product, y the products, and
/// z the slices of the sums.
template <class S>
NNC_FN constexpr grid_size plain_gemm_grid(const S &s, int rows, int columns,
                                           int slices) {
  return {ceil_div(s.m, rows) * ceil_div(s.n, columns), s.batch, slices};
}
/// Counters of blocks of the kernel: one for each tile of each product if sums
/// are divided into slices.
template <class S, class Tile, int SLICES> struct plain_gemm_counters {
  static constexpr int counters(const S &s) {
    return plain_gemm_grid(s, Tile::rows, Tile::columns, 1).x * s.batch;
  }
};
template <class S, class Tile> struct plain_gemm_counters<S, Tile, 1> {};

/// The launch of the kernel.
template <class S>
constexpr launch_size
plain_gemm_launch(const S &s, int rows, int columns, int depth_bytes,
                  int warp_rows, int warp_columns, int stages, int slices) {
  const grid_size grid = plain_gemm_grid(s, rows, columns, slices);
  return {grid, rows / warp_rows * (columns / warp_columns) * warp_lanes,
          stages * (rows + columns) * depth_bytes,
          slices > 1 ? grid.x * grid.y : 0};
}

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_PLAN_H
