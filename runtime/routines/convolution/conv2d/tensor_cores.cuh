//===- tensor_cores.cuh - Convolutions in NHWC on tensor cores ------------===//
//
// The layer of portable.h for groups == 1, x[n][h][w][c] and y[n][oh][ow][k],
// by implicit_gemm.cuh. Its weights are packed as implicit_gemm_plan.h says.
// x is f16, bf16, int8_t or uint8_t, or float, which is rounded to tf32;
// weights are of the same type, or int8_t. Sums are f32, or i32 for bytes.
// Routines with `whole` in their names copy 16 bytes of x at a time, so that c
// is a multiple of 16 / sizeof(T).
//
// With SLICES > 1, blocks store SLICES partial sums of each output in the
// scratch memory, and the last block of each tile adds them.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_TENSOR_CORES_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_TENSOR_CORES_CUH

#include "runtime/cuda/block.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm.cuh"
#include "runtime/routines/convolution/conv2d/shape.h"

namespace nnc {

/// The kernel where sums are not divided into slices.
template <class S, class Tile, bool WHOLE, class Epi> struct gemm_whole {
  static constexpr int threads = Tile::threads,
                       shared_bytes = Tile::shared_bytes;
  static constexpr grid_size grid(const S &s) {
    return {gemm_blocks<Tile>(s), s.groups, 1};
  }
  template <class B, class T, class W, class Y>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const W *w, Y *y,
                             const Epi &epi) {
    implicit_gemm<T, Tile, WHOLE, S>::run(
        b, s, x, reinterpret_cast<const unsigned char *>(w),
        finished_sums<Y, Epi>{y, epi}, 1);
  }
};

/// The kernel where sums are divided into slices.
template <class S, class Tile, bool WHOLE, int SLICES, class Epi>
struct gemm_slices : gemm_counters<Tile, SLICES> {
  static constexpr int threads = Tile::threads,
                       shared_bytes = Tile::shared_bytes;
  static constexpr grid_size grid(const S &s) {
    return {gemm_blocks<Tile>(s), s.groups, SLICES};
  }
  template <class B, class T, class W, class Y>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const W *w, Y *y,
                             unsigned char *scratch, const Epi &epi,
                             uint32_t *counters) {
    using sum = typename gemm_product<T>::sum;
    implicit_gemm<T, Tile, WHOLE, S>::run(
        b, s, x, reinterpret_cast<const unsigned char *>(w),
        sliced_sums<sum, finished_sums<Y, Epi>>{
            {reinterpret_cast<sum *>(scratch)}, counters, {y, epi}},
        SLICES);
  }
};

/// The kernels of a product.
template <class S, class Tile, bool WHOLE, int SLICES, class Epi>
struct gemm_kernels {
  using type = kernel_list<gemm_slices<S, Tile, WHOLE, SLICES, Epi>>;
};
template <class S, class Tile, bool WHOLE, class Epi>
struct gemm_kernels<S, Tile, WHOLE, 1, Epi> {
  using type = kernel_list<gemm_whole<S, Tile, WHOLE, Epi>>;
};

/// A convolution with blocks of ROWS output pixels by COLUMNS filters, and
/// warps of WARP_ROWS by WARP_COLUMNS of these. A step has DEPTH bytes of each
/// pixel's terms, and STAGES steps are in shared memory.
template <int ARCH, bool WHOLE, class S, int ROWS, int COLUMNS, int DEPTH,
          int WARP_ROWS, int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
struct conv2d_tensor_cores {
  static constexpr int arch = ARCH;
  using tile = gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>;
  using kernels = typename gemm_kernels<S, tile, WHOLE, SLICES, Epi>::type;
};

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_bf16_nhwc_parts_sm80 =
    conv2d_tensor_cores<80, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_bf16_nhwc_whole_sm80 =
    conv2d_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_tf32_nhwc_parts_sm80 =
    conv2d_tensor_cores<80, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_tf32_nhwc_whole_sm80 =
    conv2d_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_f16_nhwc_whole_sm75 =
    conv2d_tensor_cores<75, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_f16_nhwc_parts_sm75 =
    conv2d_tensor_cores<75, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_i32_nhwc_whole_sm75 =
    conv2d_tensor_cores<75, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_i32_nhwc_parts_sm75 =
    conv2d_tensor_cores<75, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_f16_nhwc_whole_sm80 =
    conv2d_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_i32_nhwc_whole_sm80 =
    conv2d_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_TENSOR_CORES_CUH
