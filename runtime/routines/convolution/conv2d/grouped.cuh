//===- grouped.cuh - Convolutions in groups on blocks of threads ----------===//
//
// The layer of portable.h for groups of more than one channel with as many
// filters as channels, in NHWC: halves, bf16 and bytes by tensor_cores.cuh,
// floats by float_gemm.cuh, which describe grids, tiles, errors and alignment.
// A row of blocks of the grid is a merged group, whose weights are packed as
// grouped_plan.h says.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/mapped.h"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/grouped_plan.h"
#include "runtime/routines/convolution/conv2d/tensor_cores.cuh"

namespace nnc {

/// The shape that the kernels take.
struct to_merged_groups {
  template <class S> NNC_FN static constexpr merged_groups<S> of(const S &s) {
    return merge_groups(s);
  }
};

/// A convolution with the parameters of conv2d_tensor_cores.
template <int ARCH, class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
struct conv2d_grouped {
  static constexpr int arch = ARCH;
  using kernels = typename mapped_kernels<
      typename conv2d_tensor_cores<ARCH, true, merged_groups<S>, ROWS, COLUMNS,
                                   DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                                   SLICES, Epi>::kernels,
      S, to_merged_groups>::type;
};

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_bf16_nhwc_grouped_sm80 =
    conv2d_grouped<80, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                   SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_f16_nhwc_grouped_sm75 =
    conv2d_grouped<75, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                   SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_f16_nhwc_grouped_sm80 =
    conv2d_grouped<80, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                   SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_i32_nhwc_grouped_sm75 =
    conv2d_grouped<75, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                   SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_i32_nhwc_grouped_sm80 =
    conv2d_grouped<80, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                   SLICES, Epi>;

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          int SLICES, class Epi>
struct conv2d_f32_nhwc_grouped_sm75 {
  static constexpr int arch = 75;
  using kernels = typename mapped_kernels<
      typename float_gemm<
          merged_groups<S>,
          float_gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES>, SLICES,
          Epi>::kernels,
      S, to_merged_groups>::type;
};
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          int SLICES, class Epi>
struct conv2d_f32_nhwc_grouped_sm80
    : conv2d_f32_nhwc_grouped_sm75<S, ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES,
                                   SLICES, Epi> {
  static constexpr int arch = 80;
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_CUH
