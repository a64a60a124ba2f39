// Tensors for tests of kernels that move elements, and what portable routines
// make of them.
#ifndef NNC_TEST_CUDA_MOVE_CASE_H
#define NNC_TEST_CUDA_MOVE_CASE_H

#include "test/runtime/cuda/block_launch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace nnc_test {

/// Fills a tensor with bits that differ from element to element; halves and
/// floats among them are finite.
template <class T> void set_bits(random_source &r, const tensor<T> &x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if constexpr (std::is_same<T, bool>::value)
      x[i] = r.between(0, 1) != 0;
    else if constexpr (std::is_integral<T>::value)
      x[i] = static_cast<T>(r.between(-1000000000, 1000000000));
    else
      x[i] = T(static_cast<float>(r.between(-2000, 2000)) * 0.125f);
  }
}

/// Runs all units of a portable routine.
template <class R, class S, class... A>
void run_portable(const S &s, A... arguments) {
  R::run(s, arguments..., 0, R::units(s));
}

/// Launches the kernels of R twice, with threads in different orders, and
/// checks that y becomes `want` both times. `y` is set to `before` first.
/// `registers` tells the grid which memory the arguments read.
template <class R, int ARCH, class S, class T, class F, class... A>
void check_launch(unsigned seed, const S &s, const tensor<T> &y,
                  const std::vector<char> &before,
                  const std::vector<char> &want, const F &registers,
                  const A &...arguments) {
  for (const unsigned order : {seed, seed + 999}) {
    std::memcpy(static_cast<void *>(y.data()), before.data(), before.size());
    const std::string error = launch<ARCH>(
        typename R::kernels(), order, s,
        [&](auto &grid) {
          registers(grid);
          grid.may_write(y.data(), y.bytes());
        },
        arguments...);
    REQUIRE(error == "");
    REQUIRE((y.content() == want));
  }
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_MOVE_CASE_H
