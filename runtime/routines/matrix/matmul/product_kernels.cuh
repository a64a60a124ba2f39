//===- product_kernels.cuh - Kernels of convolutions as those of products -===//
//
// The product of a[m][k] and b[k][n] is a convolution of m pixels with one tap,
// so that the kernels of such convolutions compute it.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PRODUCT_KERNELS_CUH
#define NNC_ROUTINES_MATRIX_MATMUL_PRODUCT_KERNELS_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/blocks/mapped.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/routines/matrix/matmul/shape.h"

namespace nnc {

/// The convolution that computes a product.
struct to_convolution {
  template <class S> NNC_FN static constexpr matmul_as_conv2d of(const S &s) {
    return matmul_as_conv2d(s.m, s.n, s.k);
  }
};

template <class Kernels, class S>
using product_kernels = mapped_kernels<Kernels, S, to_convolution>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PRODUCT_KERNELS_CUH
