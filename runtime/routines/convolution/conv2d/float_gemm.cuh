//===- float_gemm.cuh - Convolutions and products of floats on FMA units --===//
//
// y[pixel][k] = sum over taps and channels of x * w in single precision, x and
// y in NHWC, w in panels of 32 filters (float_gemm_plan.h). The loop over steps
// and the loads are those of implicit_gemm.cuh; the products are fused
// multiply-adds.
//
// grid     x: tiles of ROWS output pixels by COLUMNS filters, those with the
//          same pixels side by side; y: groups, one but for shapes of
//          grouped_plan.h; z: slices of the sums
// block    ROWS / WARP_ROWS * COLUMNS threads
// shared   STAGES * (ROWS + COLUMNS) * DEPTH_BYTES
// regs     at most 200 for WARP_ROWS of 64, 128 for 32 and 96 for 16 (128 if
//          DEPTH_BYTES is 128); test/runtime/cuda/float_kernels.inc lists what
//          is checked. If c is no constant of the shape, tiles with 64 bytes
//          and 32 threads, or 16 rows, spill two words
// arch     from sm_75 on; from sm_80 on it copies asynchronously
// reads    x, w, each 16-byte aligned, and the operands of the epilogue
// writes   y and, with slices, their sums, 16-byte aligned, and a counter for
//          each tile, which is zero before and after
// error    that of a plain sum of floats by fused multiply-adds, in the order
//          of terms; the sums of slices are added in the order of slices
//
// A thread computes WARP_ROWS / 8 rows of 8 consecutive filters. From shared
// memory it loads 16 bytes at a time: four terms of each of its rows, and the
// weights of four of its filters for one term. The lanes of a warp are 8 x 4
// threads, numbered such that lane ^ 1 has the same rows and lane ^ 2 the same
// filters, so that 16 lanes read 64 different bytes, which are in different
// banks, at once.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_FLOAT_GEMM_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_FLOAT_GEMM_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/convolution/conv2d/float_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/grouped_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm.cuh"
#include "runtime/routines/convolution/conv2d/implicit_gemm_store.cuh"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

namespace nnc {

/// Products of tiles by fused multiply-adds, for implicit_gemm.
template <class Tile> struct float_products {
  static constexpr int block_bytes = float_gemm_block_bytes;
  static constexpr int rows = Tile::warp_rows / 8; ///< of a thread
  using sums = float[rows][8];
  static_assert(Tile::warp_columns == gemm_panel, "a warp has a panel");

  /// Number of blocks of a panel of weights, one for each term.
  template <class S> static NNC_INLINE int blocks(const S &s) {
    return gemm_terms(s);
  }

  /// Adds the products of the step in `stage`.
  template <class B>
  static NNC_INLINE void multiply(B &b, shared_address stage, sums &d) {
    using four = gemm_part<float>;
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int row =
        warp / Tile::warps_across * Tile::warp_rows + lane_row(lane);
    const shared_address x = stage + row * Tile::depth_bytes;
    const shared_address w = stage + Tile::input_bytes +
                             warp % Tile::warps_across * panel_bytes +
                             lane_column(lane) * int(sizeof(float));
    NNC_UNROLL
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) {
      const int place = (chunk ^ gemm_swizzle<Tile>(row)) * 16;
      four in[rows];
      NNC_UNROLL
      for (int i = 0; i < rows; ++i)
        in[i] =
            b.template load_shared<four>(x + i * 8 * Tile::depth_bytes + place);
      NNC_UNROLL
      for (int term = 0; term < 4; ++term) {
        const shared_address at = w + (chunk * 4 + term) * block_bytes;
        four filters[2];
        NNC_UNROLL
        for (int i = 0; i < 2; ++i)
          filters[i] = b.template load_shared<four>(at + i * 16);
        NNC_UNROLL
        for (int i = 0; i < rows; ++i) {
          NNC_UNROLL
          for (int j = 0; j < 8; ++j)
            d[i][j] = fma(in[i].element[term], filters[j / 4].element[j % 4],
                          d[i][j]);
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
    const int filters = has_groups<S> ? s.k / s.groups : s.k;
    const int before = has_groups<S> ? group * filters : 0;
    const int first = first_row + warp / Tile::warps_across * Tile::warp_rows +
                      lane_row(lane);
    const int filter = first_column +
                       warp % Tile::warps_across * Tile::warp_columns +
                       lane_column(lane);
    NNC_UNROLL
    for (int i = 0; i < rows; ++i) {
      const int row = first + i * 8;
      if (row < gemm_rows(s) && filter < filters)
        output.store(b, s, d[i], row, before + filter,
                     smaller(8, filters - filter));
    }
  }

private:
  /// Bytes of a panel in a stage.
  static constexpr int panel_bytes = Tile::depth_bytes / 4 * block_bytes;

  /// The first of the rows of the warp's tile that a lane computes, from 0
  /// to 7. It is the number made of bits 1, 3 and 4 of the lane's number.
  static NNC_INLINE int lane_row(int lane) {
    return lane / 2 % 2 + lane / 8 * 2;
  }
  /// The first of the eight filters of the panel that a lane computes: 8 times
  /// the number made of bits 0 and 2 of the lane's number.
  static NNC_INLINE int lane_column(int lane) {
    return lane % 2 * 8 + lane / 4 % 2 * 16;
  }
};

/// Computes the tiles.
template <class S, class Tile, int SLICES, class Epi>
struct float_gemm_tiles : gemm_counters<Tile, SLICES> {
  static constexpr int threads = Tile::threads;
  // Without it, ptxas 13 gives a kernel of 64 rows a thread for sm_80 too few
  // registers.
  static constexpr int resident_blocks =
      Tile::warp_rows == 64 ? larger(1, 256 / threads) : 0;
  static constexpr int shared_bytes = Tile::shared_bytes;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return {gemm_blocks<Tile>(s), has_groups<S> ? s.groups : 1, SLICES};
  }
  template <class B, class Y>
  static NNC_INLINE void run(B &b, const S &s, const float *x, const float *w,
                             Y *y, const Epi &epi) {
    static_assert(SLICES == 1, "slices need scratch memory");
    multiply(b, s, x, w, finished_sums<Y, Epi>{y, epi});
  }
  template <class B, class Y>
  static NNC_INLINE void run(B &b, const S &s, const float *x, const float *w,
                             Y *y, unsigned char *scratch, const Epi &epi,
                             uint32_t *counters) {
    if constexpr (SLICES == 1)
      run(b, s, x, w, y, epi);
    else
      multiply(b, s, x, w,
               sliced_sums<float, finished_sums<Y, Epi>>{
                   {reinterpret_cast<float *>(scratch)}, counters, {y, epi}});
  }

private:
  template <bool WHOLE_CHUNKS>
  using tiles =
      implicit_gemm<float, Tile, WHOLE_CHUNKS, S, float_products<Tile>>;

  template <class B, class Output>
  static NNC_INLINE void multiply(B &b, const S &s, const float *x,
                                  const float *w, const Output &output) {
    const auto *packed = reinterpret_cast<const unsigned char *>(w);
    if constexpr (has_pixels<S>)
      tiles<false>::run(b, s, x, packed, output, SLICES);
    else if (has_groups<S> || s.c % 4 == 0)
      tiles<true>::run(b, s, x, packed, output, SLICES);
    else
      tiles<false>::run(b, s, x, packed, output, SLICES);
  }
};

template <class S, class Tile, int SLICES, class Epi> struct float_gemm {
  using kernels = kernel_list<float_gemm_tiles<S, Tile, SLICES, Epi>>;
};

/// The routines. S may be matmul_as_conv2d. With one slice they use no scratch
/// memory, and else gemm_slice_bytes(s, SLICES) bytes.
template <class S, int ROWS, int COLUMNS, int DEPTH_BYTES, int WARP_ROWS,
          int SLICES, class Epi>
struct conv2d_f32_nhwc_sm75
    : float_gemm<S, float_gemm_tile<ROWS, COLUMNS, DEPTH_BYTES, WARP_ROWS, 2>,
                 SLICES, Epi> {
  static constexpr int arch = 75;
};
template <class S, int ROWS, int COLUMNS, int DEPTH_BYTES, int WARP_ROWS,
          int STAGES, int SLICES, class Epi>
struct conv2d_f32_nhwc_sm80
    : float_gemm<S,
                 float_gemm_tile<ROWS, COLUMNS, DEPTH_BYTES, WARP_ROWS, STAGES>,
                 SLICES, Epi> {
  static constexpr int arch = 80;
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_FLOAT_GEMM_CUH
