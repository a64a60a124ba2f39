// Launches kernels for tests: on the CPU's block policy, or on a GPU where nvcc
// compiles the test.
#ifndef NNC_TEST_CUDA_KERNEL_GRID_H
#define NNC_TEST_CUDA_KERNEL_GRID_H

#include "runtime/cuda/block.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"
#include "test/runtime/cuda/device_memory.h"

#if defined(__CUDACC__)
#include "runtime/cuda/device_block.h"
#else
#include "runtime/cuda/host_block.h"
#endif

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace nnc_test {

/// The oldest architecture with products of elements of type T.
template <class T>
constexpr int oldest = std::is_same<T, nnc::bf16>::value ? 80 : 75;

#if defined(__CUDACC__)

/// The CUDA kernel that runs K with the instructions of the GPU's architecture,
/// or with those of sm_75, which newer GPUs have as well.
template <class K, bool IS_TURING, class S, class... A>
__global__ void __launch_bounds__(K::threads)
    test_kernel(S shape, A... arguments) {
#if defined(__CUDA_ARCH__)
  nnc::device_block<(IS_TURING ? 75 : __CUDA_ARCH__ / 10)> b;
  K::run(b, shape, arguments...);
#else
  static_cast<void>(shape);
  (static_cast<void>(arguments), ...);
#endif
}

/// Launches kernels on the GPU. ARCH 75 asks for the instructions of sm_75, and
/// others for those of the GPU. What a kernel may access is not checked, except
/// that it does not write before or behind an operand.
template <int ARCH> class kernel_grid {
public:
  explicit kernel_grid(std::uint64_t) {}
  void may_read(const void *, std::size_t) {}
  void may_read_constant(const void *, std::size_t) {}
  void may_write(void *, std::size_t) {}
  long bank_conflicts() const { return 0; }

  /// Runs kernel K, and waits for it. Returns an empty string, or a message
  /// about what is wrong.
  template <class K, class S, class... A>
  std::string run(nnc::grid_size grid, const S &s, const A &...arguments) {
    return launch(test_kernel < K, ARCH == 75, S, A... >, grid, K::threads,
                  K::shared_bytes, s, arguments...);
  }

private:
  template <class... P>
  static std::string launch(void (*kernel)(P...), nnc::grid_size grid,
                            int threads, int shared_bytes, P... arguments) {
    const void *const code = reinterpret_cast<const void *>(kernel);
    void *places[] = {&arguments...};
    cudaError_t error = cudaFuncSetAttribute(
        code, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    if (error == cudaSuccess)
      error = cudaLaunchKernel(code,
                               dim3(static_cast<unsigned>(grid.x),
                                    static_cast<unsigned>(grid.y),
                                    static_cast<unsigned>(grid.z)),
                               dim3(static_cast<unsigned>(threads)), places,
                               static_cast<std::size_t>(shared_bytes), nullptr);
    if (error == cudaSuccess)
      error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
      return std::string("CUDA says: ") + cudaGetErrorString(error);
    return allocation::all_are_intact() ? ""
                                        : "writes beside one of its operands";
  }
};

#else

/// Launches kernels on the CPU's block policy as ARCH has it.
template <int ARCH> class kernel_grid : public nnc::host_grid<ARCH> {
public:
  using nnc::host_grid<ARCH>::host_grid;

  template <class K, class S, class... A>
  std::string run(nnc::grid_size grid, const S &s, const A &...arguments) {
    return this->launch(grid, K::threads, K::shared_bytes,
                        [&](auto &b) { K::run(b, s, arguments...); });
  }
};

#endif

} // namespace nnc_test

#endif // NNC_TEST_CUDA_KERNEL_GRID_H
