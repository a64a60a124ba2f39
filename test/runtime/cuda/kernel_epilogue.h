// The epilogue of kernels for the gate on machine code.
#ifndef NNC_TEST_CUDA_KERNEL_EPILOGUE_H
#define NNC_TEST_CUDA_KERNEL_EPILOGUE_H

#include "runtime/epilogue.h"
#include "runtime/simd/arithmetic.h"

/// Adds a bias and a residual, and applies ReLU.
struct bias_residual_relu {
  template <class V> NNC_INLINE V operator()(V v, V bias, V residual) const {
    return nnc::max_fast(v + bias + residual, V(0.0f));
  }
};
template <class T>
using epilogue_of =
    nnc::fused<bias_residual_relu, nnc::channel_of<float>, nnc::full_of<T>>;

#endif // NNC_TEST_CUDA_KERNEL_EPILOGUE_H
