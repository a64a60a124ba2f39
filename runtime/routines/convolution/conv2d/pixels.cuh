//===- pixels.cuh - Convolutions of images with few channels --------------===//
//
// The layer of portable.h for an image of at most four channels in NCHW4c, with
// results in NHWC: halves, bf16 and bytes by tensor_cores.cuh, floats by
// float_gemm.cuh, which describe grids, tiles, errors and alignment. Weights
// are packed as pixels_plan.h says. A thread loads a pixel with one
// instruction, and ignores the channels of it that do not exist.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_PIXELS_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_PIXELS_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/mapped.h"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/pixels_plan.h"
#include "runtime/routines/convolution/conv2d/tensor_cores.cuh"

namespace nnc {

/// The shape that the kernels take.
struct to_pixels {
  template <class S> NNC_FN static constexpr pixel_shape<S> of(const S &s) {
    return as_pixels(s);
  }
};

/// A convolution with the parameters of conv2d_tensor_cores.
template <int ARCH, class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
struct conv2d_pixels {
  static constexpr int arch = ARCH;
  using kernels = typename mapped_kernels<
      typename conv2d_tensor_cores<ARCH, false, pixel_shape<S>, ROWS, COLUMNS,
                                   DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                                   SLICES, Epi>::kernels,
      S, to_pixels>::type;
};

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_bf16_nchw4c_pixels_sm80 =
    conv2d_pixels<80, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                  SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_f16_nchw4c_pixels_sm75 =
    conv2d_pixels<75, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                  SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using conv2d_i32_nchw4c_pixels_sm75 =
    conv2d_pixels<75, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                  SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          int SLICES, class Epi>
struct conv2d_f32_nchw4c_pixels_sm75 {
  static constexpr int arch = 75;
  using kernels = typename mapped_kernels<
      typename float_gemm<
          pixel_shape<S>,
          float_gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES>, SLICES,
          Epi>::kernels,
      S, to_pixels>::type;
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_PIXELS_CUH
