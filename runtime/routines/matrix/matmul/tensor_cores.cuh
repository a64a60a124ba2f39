//===- tensor_cores.cuh - Products with a matrix on tensor cores ----------===//
//
// y[m][n] = sum over k of a[m][k] * b[k][n], a and y row-major, by
// implicit_gemm.cuh, for which a product is a convolution of m pixels with one
// tap. b is packed as implicit_gemm_plan.h says. Types, names and SLICES are
// those of conv2d/tensor_cores.cuh; in routines with `whole` in their names k
// is a multiple of 16 / sizeof(T).
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_TENSOR_CORES_CUH
#define NNC_ROUTINES_MATRIX_MATMUL_TENSOR_CORES_CUH

#include "runtime/routines/convolution/conv2d/tensor_cores.cuh"
#include "runtime/routines/matrix/matmul/product_kernels.cuh"

namespace nnc {

/// A product with the parameters of conv2d_tensor_cores.
template <int ARCH, bool WHOLE, class S, int ROWS, int COLUMNS, int DEPTH,
          int WARP_ROWS, int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
struct matmul_tensor_cores {
  static constexpr int arch = ARCH;
  using kernels = typename product_kernels<
      typename conv2d_tensor_cores<ARCH, WHOLE, matmul_as_conv2d, ROWS, COLUMNS,
                                   DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES,
                                   SLICES, Epi>::kernels,
      S>::type;
};

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_bf16_parts_sm80 =
    matmul_tensor_cores<80, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_bf16_whole_sm80 =
    matmul_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_tf32_parts_sm80 =
    matmul_tensor_cores<80, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_tf32_whole_sm80 =
    matmul_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_f16_whole_sm75 =
    matmul_tensor_cores<75, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_f16_parts_sm75 =
    matmul_tensor_cores<75, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_i32_whole_sm75 =
    matmul_tensor_cores<75, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_i32_parts_sm75 =
    matmul_tensor_cores<75, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_f16_whole_sm80 =
    matmul_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_i32_whole_sm80 =
    matmul_tensor_cores<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                        WARP_COLUMNS, STAGES, SLICES, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_TENSOR_CORES_CUH
