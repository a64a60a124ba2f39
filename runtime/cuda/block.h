//===- block.h - What kernels and block policies share --------------------===//
//
// A kernel is a function template on a block policy B. It receives a B by
// reference and reaches everything that only a GPU has through it, so that the
// same source runs on a GPU (device_block.h) and, checked, on a CPU
// (host_block.h). README.md in this folder is the contract of the policy.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_BLOCK_H
#define NNC_CUDA_BLOCK_H

#include <stdint.h>

namespace nnc {

/// Sixteen bytes, the most that one thread moves with one instruction. As an
/// operand of `mma` it is the fragment of A that a lane holds.
struct alignas(16) words4 {
  uint32_t word[4];
};

/// A place in the shared memory of the block, in bytes. Only the policy makes
/// the first one, shared_base().
using shared_address = uint32_t;

/// Threads of a warp.
constexpr int warp_lanes = 32;

/// The number of blocks of a launch in each dimension of its grid, at least 1.
struct grid_size {
  int x, y, z;
};

/// The size of a launch: its grid, what each block has, and the number of
/// counters of blocks that it needs.
struct launch_size {
  grid_size grid;
  int threads, shared_bytes;
  int counters = 0;
};

/// Counters of blocks that a launch sets to zero for those that follow it.
struct counter_range {
  uint32_t *first;
  int count;
};

/// True if kernel K has counters(s), the number of counters with which its
/// blocks count each other.
template <class K, class S, class = void> constexpr bool counts_blocks = false;
template <class K, class S>
constexpr bool
    counts_blocks<K, S, decltype(void(K::counters(*(const S *)nullptr)))> =
        true;

/// The launch of kernel K for a shape.
template <class K, class S> constexpr launch_size launch_of(const S &s) {
  launch_size size{K::grid(s), K::threads, K::shared_bytes};
  if constexpr (counts_blocks<K, S>)
    size.counters = K::counters(s);
  return size;
}

/// The kernels of a routine, which are launched one after the other with the
/// same arguments.
template <class... Kernels> struct kernel_list {};

} // namespace nnc

#endif // NNC_CUDA_BLOCK_H
