//===- implicit_gemm_plan.h - Tiles and weights of implicit_gemm.cuh ------===//
//
// The plan of the kernel, for the code that launches it: sizes of a tile, of
// the grid and of its memory, and the order of the weights, which it packs.
//
// A convolution is the product of a matrix with a row for each output pixel and
// one with a column for each filter. The terms of a sum are ordered by tap row,
// tap column and channel: term (r * kw + s) * (c / groups) + channel. A run is
// 32 bytes of consecutive terms, what one `mma` reads of a row or column.
//
// Packed weights are, for each group, panels of 32 filters; a panel is a list
// of blocks of 1024 bytes, one for each run, in the order in which lanes of a
// warp hold them:
//
//   [group][panel][run][half of 2][lane of 32][4 words]
//
// The words are b0 and b1 of the `mma` of columns 2 * half, then those of
// columns 2 * half + 1. Column g of the j-th `mma` is filter 8 * (g / 2) + 2 *
// j + g % 2 of the panel, so that the sums that a lane holds of the four are
// those of eight consecutive filters. Terms and filters beyond the last one are
// zero.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_PLAN_H

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace nnc {

/// The product a[m][k] * b[k][n] -> y[m][n] as a convolution of a row of m
/// pixels by one tap.
struct matmul_as_conv2d {
  static constexpr int n = 1, h = 1, kh = 1, kw = 1, sh = 1, sw = 1, dh = 1,
                       dw = 1, pt = 0, pl = 0, oh = 1, groups = 1, fill = 0;
  int w, ow, c, k;
  NNC_FN constexpr matmul_as_conv2d(int m, int columns, int terms)
      : w(m), ow(m), c(terms), k(columns) {}
};

/// A matrix product of the family matmul, of one matrix, as such a convolution.
template <class S> constexpr matmul_as_conv2d as_conv2d(const S &s) {
  return matmul_as_conv2d(s.m, s.n, s.k);
}

/// Filters of a panel of packed weights, and bytes of a run and of a block.
constexpr int gemm_panel = 32, gemm_run_bytes = 32, gemm_block_bytes = 1024;

/// A block of threads computes ROWS x COLUMNS outputs, in steps of DEPTH_BYTES
/// bytes of each row, of which STAGES are in shared memory. A warp computes
/// WARP_ROWS x WARP_COLUMNS of the outputs.
template <int ROWS, int COLUMNS, int DEPTH_BYTES, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES>
struct gemm_tile {
  static constexpr int rows = ROWS, columns = COLUMNS,
                       depth_bytes = DEPTH_BYTES, warp_rows = WARP_ROWS,
                       warp_columns = WARP_COLUMNS, stages = STAGES;
  static constexpr int warps_across = COLUMNS / WARP_COLUMNS;
  static constexpr int threads =
      ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * warp_lanes;
  /// Chunks of 16 bytes in a row of the input, and runs of 32.
  static constexpr int chunks = DEPTH_BYTES / 16, runs = DEPTH_BYTES / 32;
  static constexpr int input_bytes = ROWS * DEPTH_BYTES;
  static constexpr int stage_bytes = (ROWS + COLUMNS) * DEPTH_BYTES;
  static constexpr int shared_bytes = STAGES * stage_bytes;

  static_assert(DEPTH_BYTES == 32 || DEPTH_BYTES == 64 || DEPTH_BYTES == 128,
                "ldmatrix without conflicts is arranged for these");
  static_assert(WARP_ROWS % 16 == 0 && ROWS % WARP_ROWS == 0,
                "a warp has whole mma of 16 rows");
  static_assert(WARP_COLUMNS % gemm_panel == 0 && COLUMNS % WARP_COLUMNS == 0,
                "a warp has whole panels");
  static_assert(STAGES >= 2, "one stage is written while one is read");
  static_assert(threads / chunks % 8 == 0 && ROWS % (threads / chunks) == 0,
                "threads load whole columns of chunks");
};

/// The address behind that of `stage`, of which a Tile has several in a ring
/// from `base` on.
template <class Tile>
NNC_INLINE shared_address next_stage(shared_address base,
                                     shared_address stage) {
  stage += Tile::stage_bytes;
  return stage == base + Tile::shared_bytes ? base : stage;
}

/// Number of output pixels, the rows of the product.
template <class S> NNC_FN constexpr int gemm_rows(const S &s) {
  return s.n * s.oh * s.ow;
}
/// Number of terms of a sum.
template <class S> NNC_FN constexpr int gemm_terms(const S &s) {
  return s.kh * s.kw * (s.c / s.groups);
}
/// Number of runs of a sum of elements of `bytes` bytes each.
template <class S> NNC_FN constexpr int gemm_runs(const S &s, int bytes) {
  return ceil_div(gemm_terms(s), gemm_run_bytes / bytes);
}
template <class S> NNC_FN constexpr int gemm_panels(const S &s) {
  return ceil_div(s.k / s.groups, gemm_panel);
}

/// Number of blocks of threads along x; along y it is s.groups, along z the
/// number of slices into which sums are divided.
template <class Tile, class S> NNC_FN constexpr int gemm_blocks(const S &s) {
  return ceil_div(gemm_rows(s), Tile::rows) *
         ceil_div(s.k / s.groups, Tile::columns);
}

/// Counters of blocks of a kernel with such a tile: one for each tile of
/// outputs if sums are divided into slices.
template <class Tile, int SLICES> struct gemm_counters {
  template <class S> NNC_FN static constexpr int counters(const S &s) {
    return gemm_blocks<Tile>(s) * s.groups;
  }
};
template <class Tile> struct gemm_counters<Tile, 1> {};

/// The launch of the kernel with such a tile.
template <class S>
constexpr launch_size gemm_launch(const S &s, int rows, int columns,
                                  int depth_bytes, int warp_rows,
                                  int warp_columns, int stages, int slices) {
  const int tiles =
      ceil_div(gemm_rows(s), rows) * ceil_div(s.k / s.groups, columns);
  return {{tiles, s.groups, slices},
          rows / warp_rows * (columns / warp_columns) * warp_lanes,
          stages * (rows + columns) * depth_bytes,
          slices > 1 ? tiles * s.groups : 0};
}

/// True if each of `slices` slices of sums has two steps of `depth_bytes` at
/// least, or sums are not divided.
template <class S>
constexpr bool gemm_divides(const S &s, int bytes, int depth_bytes,
                            int slices) {
  return slices == 1 ||
         gemm_runs(s, bytes) >= 2 * slices * (depth_bytes / gemm_run_bytes);
}

/// Bytes of the partial sums, of four bytes each.
template <class S>
constexpr ptrdiff_t gemm_slice_bytes(const S &s, int slices) {
  return slices == 1 ? 0 : ptrdiff_t(slices) * gemm_rows(s) * s.k * 4;
}

template <class S>
constexpr ptrdiff_t packed_weight_bytes(const S &s, int bytes) {
  return ptrdiff_t(s.groups) * gemm_panels(s) * gemm_runs(s, bytes) *
         gemm_block_bytes;
}

/// Calls visit(filter, term) for each element of packed weights in turn, of
/// `bytes` bytes each. `filter` counts the filters of all groups, and is -1 for
/// an element that is zero; `term` counts the terms of a sum.
template <class S, class F>
void visit_gemm_weights(const S &s, int bytes, F visit) {
  const int per_word = 4 / bytes, runs = gemm_runs(s, bytes);
  const int filters = s.k / s.groups, terms = gemm_terms(s);
  for (int group = 0; group < s.groups; ++group)
    for (int panel = 0; panel < gemm_panels(s); ++panel)
      for (int run = 0; run < runs; ++run)
        for (int word = 0; word < gemm_block_bytes / 4; ++word) {
          const int half = word / 128, lane = word / 4 % 32, part = word % 4;
          const int j = half * 2 + part / 2, g = lane / 4;
          const int filter = panel * gemm_panel + g / 2 * 8 + j * 2 + g % 2;
          const int term = (run * 8 + part % 2 * 4 + lane % 4) * per_word;
          for (int i = 0; i < per_word; ++i)
            visit(filter < filters && term + i < terms
                      ? group * filters + filter
                      : -1,
                  term + i);
        }
}

/// Packs weights. value(filter, term) returns an element, a T.
template <class T, class S, class F>
void pack_gemm_weights(const S &s, F value, unsigned char *packed) {
  visit_gemm_weights(s, sizeof(T), [&](int filter, int term) {
    memset(packed, 0, sizeof(T));
    if (filter >= 0) {
      const T element = value(filter, term);
      memcpy(packed, &element, sizeof(T));
    }
    packed += sizeof(T);
  });
}

/// Packs the weights w[k][c / groups][kh][kw] of a convolution.
template <class T, class S>
void pack_conv2d_weights(const S &s, const T *w, unsigned char *packed) {
  const int channels = s.c / s.groups, taps = s.kh * s.kw;
  pack_gemm_weights<T>(
      s,
      [&](int filter, int term) {
        return w[(ptrdiff_t(filter) * channels + term % channels) * taps +
                 term / channels];
      },
      packed);
}

/// Packs the matrix b[k][n] of a product.
template <class T>
void pack_matmul_weights(const matmul_as_conv2d &s, const T *b,
                         unsigned char *packed) {
  pack_gemm_weights<T>(
      s,
      [&](int column, int term) { return b[ptrdiff_t(term) * s.k + column]; },
      packed);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_PLAN_H
