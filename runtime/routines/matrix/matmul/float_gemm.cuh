//===- float_gemm.cuh - Products of floats on FMA units -------------------===//
//
// y[m][n] = sum over k of a[m][k] * b[k][n] in single precision, a and y
// row-major, b in panels of 32 columns (NK32n), by conv2d/float_gemm.cuh, which
// describes tiles, errors and alignment.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_FLOAT_GEMM_CUH
#define NNC_ROUTINES_MATRIX_MATMUL_FLOAT_GEMM_CUH

#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/matrix/matmul/product_kernels.cuh"

namespace nnc {

template <class S, int ROWS, int COLUMNS, int DEPTH_BYTES, int WARP_ROWS,
          int SLICES, class Epi>
struct matmul_f32_nk32n_sm75 {
  static constexpr int arch = 75;
  using kernels =
      typename product_kernels<typename conv2d_f32_nhwc_sm75<
                                   matmul_as_conv2d, ROWS, COLUMNS, DEPTH_BYTES,
                                   WARP_ROWS, SLICES, Epi>::kernels,
                               S>::type;
};
template <class S, int ROWS, int COLUMNS, int DEPTH_BYTES, int WARP_ROWS,
          int STAGES, int SLICES, class Epi>
struct matmul_f32_nk32n_sm80 {
  static constexpr int arch = 80;
  using kernels =
      typename product_kernels<typename conv2d_f32_nhwc_sm80<
                                   matmul_as_conv2d, ROWS, COLUMNS, DEPTH_BYTES,
                                   WARP_ROWS, STAGES, SLICES, Epi>::kernels,
                               S>::type;
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_FLOAT_GEMM_CUH
