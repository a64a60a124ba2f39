// The instances of float_kernels.inc, for the gate on machine code
// (machine_code.py).
#include "runtime/cuda/device_block.h"
#include "runtime/routines/convolution/conv2d/depthwise_nhwc.cuh"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "test/runtime/cuda/kernel_epilogue.h"

using namespace nnc;

namespace {

constexpr int arch = __CUDA_ARCH_LIST__ / 10;

template <class T> using epilogue = epilogue_of<T>;

/// Shapes by their names.
using of_conv = conv2d_shape;
struct of_conv56 { // of ResNet-50
  static constexpr int n = 1, c = 64, h = 56, w = 56, k = 64, kh = 3, kw = 3,
                       sh = 1, sw = 1, dh = 1, dw = 1, pt = 1, pl = 1, oh = 56,
                       ow = 56, groups = 1;
};
struct of_rgb { // the first of ResNet-50
  static constexpr int n = 1, c = 3, h = 224, w = 224, k = 64, kh = 7, kw = 7,
                       sh = 2, sw = 2, dh = 1, dw = 1, pt = 3, pl = 3, oh = 112,
                       ow = 112, groups = 1;
};
using of_matmul = matmul_as_conv2d;
template <int TAPS, int STRIDE> struct depthwise_shape {
  static constexpr int n = 1, c = 96, h = 56, w = 56, k = 96, kh = TAPS,
                       kw = TAPS, sh = STRIDE, sw = STRIDE, dh = 1, dw = 1,
                       pt = TAPS / 2, pl = TAPS / 2, oh = 56 / STRIDE,
                       ow = 56 / STRIDE, groups = 96;
};
using of_three3 = depthwise_shape<3, 1>;
using of_three3_2 = depthwise_shape<3, 2>;
using of_five5 = depthwise_shape<5, 1>;

/// Elements by their names.
using element_f16 = f16;
using element_f32 = float;

/// Runs kernel K, if it is for this architecture.
template <class K, int FROM, int ARCH, class... A>
__device__ __forceinline__ void run(const A &...arguments) {
  if constexpr (ARCH >= FROM) {
    device_block<ARCH> b;
    K::run(b, arguments...);
  }
}

} // namespace

// clang-format off
#define NNC_DEPTHWISE(SHAPE, TYPE, PIXELS)                                                         \
  extern "C" __global__ void __launch_bounds__(128) depthwise_##SHAPE##_##TYPE##_##PIXELS(         \
      of_##SHAPE s, const element_##TYPE *x, const element_##TYPE *w, element_##TYPE *y,           \
      epilogue<element_##TYPE> epi) {                                                              \
    run<depthwise_nhwc<element_##TYPE, of_##SHAPE, PIXELS, epilogue<element_##TYPE>>, 75, arch>(   \
        s, x, w, y, epi);                                                                          \
  }
#define NNC_FLOAT_GEMM(SHAPE, ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES, SLICES, FROM)               \
  extern "C" __global__ void __launch_bounds__(                                                    \
      float_gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES>::threads,                           \
      float_gemm_tiles<of_##SHAPE,                                                                 \
                       float_gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES>, SLICES,           \
                       epilogue<float>>::resident_blocks)                                          \
  SHAPE##_##ROWS##_##COLUMNS##_##DEPTH##_##WARP_ROWS##_##STAGES##_##SLICES(                        \
      of_##SHAPE s, const float *x, const float *w, float *y, unsigned char *scratch,              \
      epilogue<float> epi, uint32_t *counters) {                                                   \
    run<float_gemm_tiles<of_##SHAPE, float_gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES>,     \
                         SLICES, epilogue<float>>, FROM, arch>(s, x, w, y, scratch, epi, counters); \
  }
// clang-format on
#include "test/runtime/cuda/float_kernels.inc"
