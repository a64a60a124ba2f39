// The instances of kernels.inc, for the gate on machine code (machine_code.py).
#include "runtime/cuda/device_block.h"
#include "runtime/routines/convolution/conv2d/grouped_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm.cuh"
#include "runtime/routines/convolution/conv2d/pixels_plan.h"
#include "runtime/routines/convolution/conv2d/planes.cuh"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/convolution/conv_transpose2d/phases.cuh"
#include "test/runtime/cuda/kernel_epilogue.h"

#include <stdint.h>

using namespace nnc;

namespace {

constexpr int arch = __CUDA_ARCH_LIST__ / 10;
constexpr bool whole = true, parts = false;

struct requantize {
  NNC_INLINE int8_t operator()(int32_t v, float scale) const {
    const float x = rintf(float(v) * scale);
    return int8_t(x < -128 ? -128 : x > 127 ? 127 : x);
  }
};

/// Elements by their names in kernels.inc, and an epilogue on their sums.
template <class T> struct floats {
  using element = T;
  using epilogue = epilogue_of<T>;
};
template <class T> struct bytes {
  using element = T;
  using epilogue = fused<requantize, channel_of<float>>;
};
using of_f16 = floats<f16>;
using of_bf16 = floats<bf16>;
using of_tf32 = floats<float>;
using of_i8 = bytes<int8_t>;
using of_u8 = bytes<uint8_t>;

/// Shapes by their names, and the outputs that belong to them.
template <class Of> struct of_conv {
  using shape = conv2d_shape;
  using output = finished_sums<typename Of::element, typename Of::epilogue>;
};
struct conv56_shape { // of ResNet-50
  static constexpr int n = 1, c = 64, h = 56, w = 56, k = 64, kh = 3, kw = 3,
                       sh = 1, sw = 1, dh = 1, dw = 1, pt = 1, pl = 1, oh = 56,
                       ow = 56, groups = 1;
};
template <class Of> struct of_conv56 {
  using shape = conv56_shape;
  using output = typename of_conv<Of>::output;
};
template <class Of> struct of_matmul {
  using shape = matmul_as_conv2d;
  using output = finished_sums<typename Of::element, typename Of::epilogue>;
};
template <class Of> struct of_grouped {
  using shape = merged_groups<conv2d_shape>;
  using output = finished_sums<typename Of::element, typename Of::epilogue>;
};
struct rgb_shape : conv56_shape { // the first of ResNet-50
  static constexpr int c = 3, h = 224, w = 224, kh = 7, kw = 7, sh = 2, sw = 2,
                       pt = 3, pl = 3, oh = 112, ow = 112, fill = 0;
};
template <class Of> struct of_pixels {
  using shape = pixel_shape<rgb_shape>;
  using output = typename of_conv<Of>::output;
};
template <class Of> struct of_planes {
  using shape = plane_shape<rgb_shape, float>;
  using output = typename of_conv<Of>::output;
};
template <class Of> struct of_phase {
  using shape = phase_shape<2>;
  using output = phase_sums<typename Of::element, typename Of::epilogue>;
};
template <class Of> struct of_phase4 {
  using shape = phase_shape<4>;
  using output = typename of_phase<Of>::output;
};
template <class Of> struct of_slice {
  using shape = conv2d_shape;
  using output = sliced_sums<typename gemm_product<typename Of::element>::sum,
                             typename of_conv<Of>::output>;
};

/// Runs the kernel, if ARCH has its instructions.
template <int ARCH, int FROM, class T, bool WHOLE_CHUNKS, class Tile, class S,
          class Output>
__device__ __forceinline__ void
run(const S &s, const typename gemm_input<T, Tile, WHOLE_CHUNKS, S>::element *x,
    const unsigned char *w, const Output &output, int slices) {
  if constexpr (ARCH >= FROM) {
    device_block<ARCH> b;
    implicit_gemm<T, Tile, WHOLE_CHUNKS, S>::run(b, s, x, w, output, slices);
  }
}

} // namespace

// clang-format off
#define NNC_GEMM(SHAPE, TYPE, CHUNKS, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES, FROM) \
  extern "C" __global__ void __launch_bounds__(                                                    \
      gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>::threads)                   \
  SHAPE##_##TYPE##_##CHUNKS##_##ROWS##_##COLUMNS##_##DEPTH##_##WARP_ROWS##_##WARP_COLUMNS##_##STAGES( \
      of_##SHAPE<of_##TYPE>::shape s,                                                              \
      const gemm_input<of_##TYPE::element,                                                         \
                       gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>, CHUNKS,   \
                       of_##SHAPE<of_##TYPE>::shape>::element *x, const unsigned char *w,          \
      of_##SHAPE<of_##TYPE>::output output, int slices) {                                          \
    run<arch, FROM, of_##TYPE::element, CHUNKS,                                                    \
        gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>>(s, x, w, output, slices); \
  }
// clang-format on
#include "test/runtime/cuda/kernels.inc"
