//===- kernels.h - Launches kernels on the block policy -------------------===//
//
// A routine on blocks of threads is a struct with a list of kernels,
//
//   using kernels = kernel_list<first_kernel<S, Epi>, second_kernel<S, Epi>>;
//   static constexpr int arch = 80;
//
// each of which has threads and shared_bytes, the sizes of its blocks; grid(s),
// the number of blocks for a shape; and run(b, s, arguments...), which a thread
// with the block policy `b` calls. If it has counters(s), its blocks count each
// other: the last argument is a pointer to so many integers, which are zero
// before and after the launch. It may have resident_blocks, the number of
// blocks for which a multiprocessor has to have registers. `arch` is the oldest
// architecture with the routine's instructions. launch() of launch.h comes here
// for such routines.
//
// nvcc compiles the kernels for GPUs. Other compilers run them on the block
// policy of the CPU, as sm_75 or sm_80 by `arch`; what that finds wrong it
// prints, and the run ends with the status of an error of CUDA.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_KERNELS_H
#define NNC_CUDA_KERNELS_H

#include "runtime/cuda/block.h"
#include "runtime/cuda/device_block.h"
#include "runtime/cuda/launch.h"
#include "runtime/scratch.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

#if !defined(__CUDACC__)
#include "runtime/cuda/host_block.h"
#endif

namespace nnc {

/// The number of blocks of kernel K for which a multiprocessor has to have
/// registers: K::resident_blocks, or 0 where the compiler decides it.
template <class K, class = void> constexpr int resident_blocks = 0;
template <class K>
constexpr int resident_blocks<K, void_of<decltype(K::resident_blocks)>> =
    K::resident_blocks;

#if defined(__CUDACC__)

/// The kernel K for shapes of type S.
template <class K, class S, class... A>
__global__ void __launch_bounds__(K::threads, resident_blocks<K>)
    block_kernel(S shape, A... arguments) {
#if defined(__CUDA_ARCH__)
  device_block<__CUDA_ARCH__ / 10> b;
  K::run(b, shape, argument_of(arguments, 0, 1)...);
#else
  static_cast<void>(shape);
  (static_cast<void>(arguments), ...);
#endif
}

#else

/// Runs kernel K on the CPU, block after block.
template <class K, int ARCH, class S, class... A>
void emulate_kernel(stream &stream, const S &shape, const A &...arguments) {
  stream.add(true, [seed = stream.next_seed(), shape,
                    arguments...](auto &&report) {
    host_grid<(ARCH < 80 ? 75 : 80)> grid(seed);
    grid.may_access_all();
    const auto error =
        grid.launch(K::grid(shape), K::threads, K::shared_bytes, [&](auto &b) {
          K::run(b, shape, argument_of(arguments, 0, 1)...);
        });
    if (!error.empty())
      report(error.c_str());
  });
}

#endif

/// Launches kernel K of routine R.
template <class R, class K, class S, class... A>
void launch_kernel(stream &stream, const S &shape, const A &...arguments) {
#if defined(__CUDACC__)
  stream.run_blocks(block_kernel<K, S, A...>, K::grid(shape), K::threads,
                    K::shared_bytes, shape, arguments...);
#else
  emulate_kernel<K, R::arch>(stream, shape, arguments...);
#endif
}

/// Kernel K, whose first block also sets counters to zero. All threads have
/// waited for earlier launches when K::run() returns.
template <class K> struct clearing_kernel : K {
  template <class B, class S, class... A>
  static NNC_INLINE void run(B &b, const S &s, const counter_range &counters,
                             const A &...arguments) {
    K::run(b, s, arguments...);
    if (b.block_x() == 0 && b.block_y() == 0 && b.block_z() == 0)
      for (int i = b.thread(); i < counters.count; i += K::threads)
        b.store_global(counters.first + i, uint32_t(0));
  }
};

/// Launches the kernel of a routine. Each routine has one, as the compiler
/// counts a launch for each call.
template <class Kernel> struct kernel_launcher<kernel_list<Kernel>> {
  template <class R, class S, class... A>
  static void launch(stream &stream, const S &shape, const A &...arguments) {
    if constexpr (counts_blocks<Kernel, S>)
      launch_kernel<R, Kernel>(stream, shape, arguments..., stream.counters());
    else
      launch_kernel<R, Kernel>(stream, shape, arguments...);
  }
  template <class R, class S, class... A>
  static void launch_and_clear(stream &stream, const S &shape,
                               const A &...arguments) {
    static_assert(!counts_blocks<Kernel, S>,
                  "a launch cannot count with counters that it sets to zero");
    launch_kernel<R, clearing_kernel<Kernel>>(
        stream, shape, stream.take_uncleared(), arguments...);
  }
};

} // namespace nnc

#endif // NNC_CUDA_KERNELS_H
