// Memory that a GPU and the CPU share, for tests that nvcc compiles.
#ifndef NNC_TEST_CUDA_MANAGED_MEMORY_H
#define NNC_TEST_CUDA_MANAGED_MEMORY_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace nnc_test {

/// Managed memory, between two margins of known content. All existing
/// allocations form a list.
class allocation {
public:
  explicit allocation(std::size_t bytes) : size(bytes) {
    void *memory = nullptr;
    const cudaError_t error = cudaMallocManaged(&memory, bytes + 2 * margin);
    if (error != cudaSuccess) {
      std::printf("CUDA allocates no %zu bytes: %s\n", bytes,
                  cudaGetErrorString(error));
      std::exit(cannot_run);
    }
    first = static_cast<unsigned char *>(memory);
    std::memset(first, filling, margin);
    std::memset(first + margin + size, filling, margin);
    add();
  }
  allocation(allocation &&other)
      : first(std::exchange(other.first, nullptr)), size(other.size) {
    other.remove();
    add();
  }
  ~allocation() {
    remove();
    cudaFree(first);
  }
  char *data() { return reinterpret_cast<char *>(first) + margin; }

  /// Returns false if anything has written into a margin.
  static bool all_are_intact() {
    for (const allocation *one = newest; one; one = one->before)
      for (std::size_t i = 0; one->first && i < margin; ++i)
        if (one->first[i] != filling ||
            one->first[margin + one->size + i] != filling)
          return false;
    return true;
  }

private:
  static constexpr std::size_t margin = 256;
  static constexpr unsigned char filling = 0xa5;
  static constexpr int cannot_run = 2;

  void add() {
    before = newest;
    if (before)
      before->after = this;
    newest = this;
  }
  void remove() {
    if (before)
      before->after = after;
    if (after)
      after->before = before;
    else if (newest == this)
      newest = before;
    before = after = nullptr;
  }

  static inline allocation *newest = nullptr;
  unsigned char *first;
  std::size_t size;
  allocation *before = nullptr, *after = nullptr;
};

} // namespace nnc_test

#endif // NNC_TEST_CUDA_MANAGED_MEMORY_H
