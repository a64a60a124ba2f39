//===- grouped.cuh - Convolutions in groups on blocks of threads ----------===//
//
// The layer of portable.h for groups of more than one channel with as many
// filters as channels, in NHWC: halves and bytes by tensor_cores.cuh, floats by
// float_gemm.cuh, which describe grids, tiles, errors and alignment. A row of
// blocks of the grid is a merged group, whose weights are packed as
// grouped_plan.h says.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_GROUPED_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/grouped_plan.h"
#include "runtime/routines/convolution/conv2d/tensor_cores.cuh"

namespace nnc {

/// The kernel K for convolutions of shape S, whose groups it merges.
template <class K, class S> struct grouped_kernel {
  static constexpr int threads = K::threads, shared_bytes = K::shared_bytes;
  static constexpr grid_size grid(const S &s) {
    return K::grid(merge_groups(s));
  }
  template <class B, class... A>
  static NNC_INLINE void run(B &b, const S &s, const A &...arguments) {
    K::run(b, merge_groups(s), arguments...);
  }
};

template <class Kernels, class S> struct grouped_kernels;
template <class... Kernels, class S>
struct grouped_kernels<kernel_list<Kernels...>, S> {
  using type = kernel_list<grouped_kernel<Kernels, S>...>;
};

/// A convolution with the parameters of conv2d_tensor_cores.
template <int ARCH, class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
struct conv2d_grouped {
  static constexpr int arch = ARCH;
  using kernels = typename grouped_kernels<
      typename conv2d_tensor_cores<ARCH, true, merged_groups<S>, ROWS, COLUMNS,
                                   DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                                   SLICES, Epi>::kernels,
      S>::type;
};

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
  using kernels = typename grouped_kernels<
      typename float_gemm<
          merged_groups<S>,
          float_gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES>, SLICES,
          Epi>::kernels,
      S>::type;
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
