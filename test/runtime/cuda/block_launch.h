// Runs routines on blocks on the CPU's block policy, and compares what they
// store with results in double precision.
#ifndef NNC_TEST_CUDA_BLOCK_LAUNCH_H
#define NNC_TEST_CUDA_BLOCK_LAUNCH_H

#include "runtime/cuda/block.h"
#include "runtime/epilogue.h"
#include "runtime/simd/half.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"
#include "test/runtime/cuda/device_memory.h"
#include "test/runtime/cuda/kernel_grid.h"
#include "test/runtime/random_shapes.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace nnc_test {

/// A tensor for a kernel, aligned to 16 bytes or, if `shifted`, to one element.
template <class T> class tensor {
public:
  tensor(std::size_t count, bool shifted)
      : memory(count + 1), first(shifted), count(count) {}
  T *data() const { return memory.data() + first; }
  std::size_t size() const { return count; }
  std::size_t bytes() const { return count * sizeof(T); }
  T &operator[](std::size_t i) const { return data()[i]; }
  void set(const std::vector<float> &values) const {
    for (std::size_t i = 0; i < count; ++i)
      data()[i] = T(values[i]);
  }
  std::vector<char> content() const {
    const char *from = reinterpret_cast<const char *>(data());
    return {from, from + bytes()};
  }

private:
  device_memory<T> memory;
  std::size_t first, count;
};

/// Launches a routine of one kernel, which may read and write the tensors that
/// `registers` tells the grid. Returns the first error, or an empty string.
template <int ARCH, class Kernel, class S, class R, class... A>
std::string launch(nnc::kernel_list<Kernel>, std::uint64_t seed, const S &s,
                   const R &registers, const A &...arguments) {
  kernel_grid<ARCH> grid(seed);
  registers(grid);
  const nnc::grid_size size = Kernel::grid(s);
  if (size.x < 1 || size.y != 1 || size.z != 1)
    return "has a grid of the wrong size";
  return grid.template run<Kernel>(size, s, arguments...);
}

/// A bias for each channel and a residual of type T.
template <class T>
using bias_residual_epilogue =
    nnc::fused<bias_residual_relu, nnc::channel_of<float>, nnc::full_of<T>>;

/// The error of rounding to T.
template <class T> double rounding_of(double size) {
  return std::is_same<T, nnc::f16>::value ? 0x1p-11 * std::fabs(size) + 0x1p-25
         : std::is_same<T, nnc::bf16>::value
             ? 0x1p-8 * std::fabs(size) + 0x1p-134
             : 0x1p-24 * std::fabs(size) + 0x1p-149;
}

/// True if `got` is `want` up to `error` and the rounding to T, or both are
/// NaN.
template <class T> bool agrees(T got, double want, double error) {
  const double value = static_cast<double>(static_cast<float>(got));
  if (std::isnan(want) || std::isnan(value))
    return std::isnan(want) && std::isnan(value);
  // The value as T, for results beyond its range.
  if (std::isinf(want) || std::isinf(value))
    return value ==
           static_cast<double>(static_cast<float>(T(static_cast<float>(want))));
  return value == want ||
         std::fabs(value - want) <= error + rounding_of<T>(want);
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_BLOCK_LAUNCH_H
