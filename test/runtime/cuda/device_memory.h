// Memory that kernels read and write in tests.
#ifndef NNC_TEST_CUDA_DEVICE_MEMORY_H
#define NNC_TEST_CUDA_DEVICE_MEMORY_H

#if defined(__CUDACC__)
#include "test/runtime/cuda/managed_memory.h"
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nnc_test {

#if !defined(__CUDACC__)
/// Bytes of the CPU.
class allocation {
public:
  explicit allocation(std::size_t bytes) : bytes(bytes) {}
  char *data() { return bytes.data(); }

private:
  std::vector<char> bytes;
};
#endif

/// Memory of elements of type T, aligned to 16 bytes and no further, so that an
/// access beyond the end is one beyond the allocation.
template <class T> class device_memory {
public:
  explicit device_memory(std::size_t count)
      : count(count), raw(count * sizeof(T) + 32) {
    const auto at = reinterpret_cast<std::uintptr_t>(raw.data());
    first = raw.data() + (16 - at % 32 + 32) % 32;
    std::memset(first, 0xff, count * sizeof(T));
  }
  device_memory(device_memory &&) = default;
  T *data() const { return reinterpret_cast<T *>(first); }
  std::size_t bytes() const { return count * sizeof(T); }
  T &operator[](std::size_t i) const { return data()[i]; }
  std::size_t size() const { return count; }

private:
  std::size_t count;
  allocation raw;
  char *first;
};

} // namespace nnc_test

#endif // NNC_TEST_CUDA_DEVICE_MEMORY_H
