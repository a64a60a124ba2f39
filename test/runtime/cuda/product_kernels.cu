// The instances of product_kernels.inc, for the gate on machine code
// (product_machine_code.py).
#include "runtime/cuda/device_block.h"
#include "runtime/routines/matrix/matmul/plain_gemm.cuh"
#include "test/runtime/cuda/kernel_epilogue.h"

using namespace nnc;

namespace {

constexpr int arch = __CUDA_ARCH_LIST__ / 10;
constexpr bool whole = true, parts = false;
using of_bf16 = bf16;
using of_f16 = f16;
using of_f32 = float;
using of_tf32 = float;
/// For each type in product_kernels.inc, whether its elements are floats of 32
/// bits that tensor cores multiply as tf32.
constexpr bool tensors_bf16 = false, tensors_f16 = false, tensors_f32 = false,
               tensors_tf32 = true;

/// A shape with the order of its operands as constants, by the name of that
/// order in product_kernels.inc.
template <int TRANSPOSE_A, int TRANSPOSE_B> struct order {
  static constexpr int transpose_a = TRANSPOSE_A, transpose_b = TRANSPOSE_B;
  int batch, m, n, k, a_batch_stride, b_batch_stride;
};
using of_nn = order<0, 0>;
using of_nt = order<0, 1>;
using of_tn = order<1, 0>;
using of_tt = order<1, 1>;

/// Runs the kernel of a routine, if ARCH has its instructions.
template <int ARCH, int FROM, class T, class Kernel, class S>
__device__ __forceinline__ void
run(const S &s, const T *a, const T *w, T *y, unsigned char *scratch,
    const epilogue_of<T> &epi, uint32_t *counters) {
  if constexpr (ARCH >= FROM) {
    device_block<ARCH> b;
    Kernel::run(b, s, a, w, y, scratch, epi, counters);
  }
}

} // namespace

// clang-format off
#define NNC_PRODUCT(ORDER, TYPE, CHUNKS, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES, SLICES, FROM) \
  extern "C" __global__ void __launch_bounds__(                                                    \
      gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>::threads)                   \
  ORDER##_##TYPE##_##CHUNKS##_##ROWS##_##COLUMNS##_##DEPTH##_##WARP_ROWS##_##WARP_COLUMNS##_##STAGES( \
      of_##ORDER s, const of_##TYPE *a, const of_##TYPE *w, of_##TYPE *y, unsigned char *scratch,  \
      epilogue_of<of_##TYPE> epi, uint32_t *counters) {                                            \
    run<arch, FROM, of_##TYPE,                                                                     \
        plain_gemm_tiles<of_##ORDER,                                                               \
                         gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>, CHUNKS, \
                         SLICES, epilogue_of<of_##TYPE>, tensors_##TYPE>>(                         \
        s, a, w, y, scratch, epi, counters);                                                       \
  }
// clang-format on
#include "test/runtime/cuda/product_kernels.inc"
