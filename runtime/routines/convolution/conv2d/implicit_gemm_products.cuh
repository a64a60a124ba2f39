//===- implicit_gemm_products.cuh - Products of tiles on tensor cores -----===//
//
// Products of implicit_gemm.cuh: how weights are packed, the sums of a thread,
// the products of a step in shared memory, and which sums a thread passes on.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_PRODUCTS_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_PRODUCTS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_loads.cuh"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Products of fragments by `mma`.
template <class T, class Tile> struct tensor_products {
  using product = gemm_product<T>;
  using sum = typename product::sum;
  static constexpr int block_bytes = gemm_block_bytes;
  static constexpr int row_tiles = Tile::warp_rows / 16;
  static constexpr int column_tiles = Tile::warp_columns / 8;
  static constexpr int warp_panels = Tile::warp_columns / gemm_panel;
  using sums = sum[row_tiles][column_tiles][4];

  /// Number of blocks of a panel of weights.
  template <class S> static NNC_INLINE int blocks(const S &s) {
    return gemm_runs(s, sizeof(T));
  }

  /// Adds the products of the step in `stage`.
  template <class B>
  static NNC_INLINE void multiply(B &b, shared_address stage, sums &d) {
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int row = warp / Tile::warps_across * Tile::warp_rows + lane % 16;
    const int panel = warp % Tile::warps_across * warp_panels;
    const shared_address rows = stage + row * Tile::depth_bytes;
    const shared_address blocks = stage + Tile::input_bytes +
                                  panel * Tile::runs * gemm_block_bytes +
                                  lane * 16;
    NNC_UNROLL
    for (int run = 0; run < Tile::runs; ++run) {
      const int chunk = (run * 2 + lane / 16) ^ gemm_swizzle<Tile>(row);
      words4 a[row_tiles];
      NNC_UNROLL
      for (int i = 0; i < row_tiles; ++i)
        a[i] = product::operand(
            b, b.ldmatrix_x4(rows + chunk * 16 + i * 16 * Tile::depth_bytes));
      NNC_UNROLL
      for (int half = 0; half < warp_panels * 2; ++half) {
        const words4 f = b.template load_shared<words4>(
            blocks + (half / 2 * Tile::runs + run) * gemm_block_bytes +
            half % 2 * (gemm_block_bytes / 2));
        NNC_UNROLL
        for (int i = 0; i < row_tiles; ++i) {
          product::add(b, d[i][half * 2], a[i], f.word[0], f.word[1]);
          product::add(b, d[i][half * 2 + 1], a[i], f.word[2], f.word[3]);
        }
      }
    }
  }

  /// Calls output.store() for the sums of the thread, once for each output
  /// pixel and eight consecutive filters.
  template <class B, class S, class Output>
  static NNC_INLINE void store(B &b, const S &s, const sums &d,
                               const Output &output, int first_row,
                               int first_column, int group) {
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int filters = s.k / s.groups;
    const int warp_row =
        first_row + warp / Tile::warps_across * Tile::warp_rows + lane / 4;
    const int warp_column = first_column +
                            warp % Tile::warps_across * Tile::warp_columns +
                            lane % 4 * 8;
    NNC_UNROLL
    for (int i = 0; i < row_tiles * 2; ++i) {
      const int row = warp_row + i * 8;
      NNC_UNROLL
      for (int p = 0; p < warp_panels; ++p) {
        const int filter = warp_column + p * gemm_panel;
        if (row >= gemm_rows(s) || filter >= filters)
          continue;
        sum v[8];
        NNC_UNROLL
        for (int j = 0; j < 8; ++j)
          v[j] = d[i / 2][p * 4 + j / 2][i % 2 * 2 + j % 2];
        output.store(b, s, v, row, group * filters + filter,
                     smaller(8, filters - filter));
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_PRODUCTS_CUH
