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
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/routines/matrix/matmul/shape.h"

namespace nnc {

/// The counters of blocks of kernel K, if it has any, for products of shape S.
template <class K, class S, bool = counts_blocks<K, matmul_as_conv2d>>
struct product_counters {};
template <class K, class S> struct product_counters<K, S, true> {
  static constexpr int counters(const S &s) {
    return K::counters(matmul_as_conv2d(s.m, s.n, s.k));
  }
};

/// The kernel K, which computes a convolution, for products of shape S.
template <class K, class S> struct product_kernel : product_counters<K, S> {
  static constexpr int threads = K::threads, shared_bytes = K::shared_bytes;
  static constexpr grid_size grid(const S &s) { return K::grid(conv(s)); }
  template <class B, class... A>
  static NNC_INLINE void run(B &b, const S &s, const A &...arguments) {
    K::run(b, conv(s), arguments...);
  }

private:
  static NNC_INLINE constexpr matmul_as_conv2d conv(const S &s) {
    return matmul_as_conv2d(s.m, s.n, s.k);
  }
};

template <class Kernels, class S> struct product_kernels;
template <class... Kernels, class S>
struct product_kernels<kernel_list<Kernels...>, S> {
  using type = kernel_list<product_kernel<Kernels, S>...>;
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PRODUCT_KERNELS_CUH
