// The routines of convolutions of images in NCHW4c, as tests call them.
#ifndef NNC_TEST_CUDA_PIXELS_CASE_H
#define NNC_TEST_CUDA_PIXELS_CASE_H

#include "runtime/routines/convolution/conv2d/pixels.cuh"
#include "test/runtime/cuda/gemm_test.h"
#include "test/runtime/cuda/packed_case.h"

#include <cstdint>
#include <type_traits>

namespace nnc_test {

/// Runs the routine for weights of type T with these params on an image `x` in
/// NCHW4c. `seed` decides the order of threads.
template <class T, int ARCH, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int STAGES, int SLICES>
gemm_result run_pixels(const packed_case<T> &c, const device_memory<T> &x,
                       std::uint64_t seed) {
  using routine = std::conditional_t<
      std::is_same<T, float>::value,
      nnc::conv2d_f32_nchw4c_pixels_sm75<nnc::conv2d_shape, ROWS, COLUMNS,
                                         DEPTH, WARP_ROWS, STAGES, SLICES,
                                         packed_epilogue<float>>,
      nnc::conv2d_pixels<ARCH, nnc::conv2d_shape, ROWS, COLUMNS, DEPTH,
                         WARP_ROWS, 32, STAGES, SLICES, packed_epilogue<T>>>;
  return run_packed<ARCH>(typename routine::kernels{}, c, x, SLICES, seed);
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_PIXELS_CASE_H
