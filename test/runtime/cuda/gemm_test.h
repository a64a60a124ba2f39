// Checks of instances of implicit_gemm.cuh on random shapes.
#ifndef NNC_TEST_CUDA_GEMM_TEST_H
#define NNC_TEST_CUDA_GEMM_TEST_H

#include "test/runtime/check.h"
#include "test/runtime/cuda/gemm_case.h"
#include "test/runtime/random_shapes.h"

#include <cstdint>
#include <string>
#include <type_traits>

namespace nnc_test {

/// Largest relative error in the L2 norm for outputs of type T.
template <class T>
constexpr double bound = std::is_same<T, nnc::f16>::value    ? 2e-3
                         : std::is_same<T, nnc::bf16>::value ? 8e-3
                         : std::is_same<T, float>::value     ? 1e-5
                                                             : 0;

/// A kernel, and what it is called with.
template <class T> struct gemm_kernel {
  const char *name;
  bool whole_chunks;
  gemm_result (*run)(const gemm_case<T> &, int slices, std::uint64_t seed);
};

using large_tile = nnc::gemm_tile<128, 128, 64, 64, 64, 3>;
using middle_tile = nnc::gemm_tile<64, 64, 64, 32, 32, 4>;
using deep_tile = nnc::gemm_tile<64, 32, 128, 32, 32, 2>;
using tall_tile = nnc::gemm_tile<64, 32, 32, 16, 32, 5>;
using wide_tile = nnc::gemm_tile<32, 96, 64, 16, 96, 3>;
using small_tile = nnc::gemm_tile<16, 32, 64, 16, 32, 2>;

#define NNC_GEMM_KERNEL(TILE, WHOLE, ARCH)                                     \
  {#TILE " " #WHOLE " " #ARCH, WHOLE, run_gemm<T, TILE, WHOLE, ARCH>}

/// Checks a kernel for a shape, in two orders of threads.
template <class T>
void check(const gemm_kernel<T> &kernel, const nnc::conv2d_shape &s, int slices,
           unsigned seed) {
  INFO(kernel.name << ", slices " << slices << describe(s));
  const gemm_case<T> c(s, seed);
  const gemm_result first = kernel.run(c, slices, seed);
  REQUIRE(first.error == "");
  REQUIRE(first.relative <= bound<T>);
  REQUIRE(first.bank_conflicts == 0);
  const gemm_result second = kernel.run(c, slices, seed + 1000);
  REQUIRE(second.error == "");
  REQUIRE(first.bytes == second.bytes);
}

/// A random shape: convolutions of all kinds, and products.
inline nnc::conv2d_shape random_shape(random_source &r, int elements) {
  nnc::conv2d_shape s = random_conv2d(r, 10);
  switch (r.between(0, 6)) {
  case 0: // a product, of 1 or 127 rows or some number of them
    s = {};
    s.n = s.h = s.kh = s.kw = s.sh = s.sw = s.dh = s.dw = s.oh = s.groups = 1;
    s.w = s.ow = r.between(0, 2)   ? r.between(1, 140)
                 : r.between(0, 1) ? 1
                                   : 127;
    s.c = r.between(0, 3) ? elements * r.between(1, 30) : r.between(1, 200);
    s.k = r.between(1, 100);
    return s;
  case 1: // the first layer of a network
    s.c = 3;
    break;
  case 2: // groups
    s.groups = r.between(2, 4);
    s.c = s.groups * elements * r.between(1, 3);
    s.k = s.groups * r.between(1, 40);
    break;
  case 3:
    s.c = elements * r.between(1, 8);
    s.k = 8 * r.between(1, 16);
    break;
  case 4:
    s.c = elements * r.between(1, 4);
    s.kh = s.kw = 3;
    break;
  default: // any channels
    break;
  }
  pad_randomly(r, s);
  return s;
}

template <class T>
void check_random(int count, gemm_kernel<T> (*kernel_of)(int, bool)) {
  random_source r;
  constexpr int elements = 16 / int(sizeof(T));
  for (int i = 0; i < count; ++i) {
    nnc::conv2d_shape s = random_shape(r, elements);
    const bool whole = s.c / s.groups % elements == 0;
    if (std::is_integral<T>::value && r.between(0, 1))
      s.fill = r.between(std::is_signed<T>::value ? -128 : 0, 127);
    const int slices = r.between(0, 2) ? 1 : r.between(2, 5);
    check<T>(kernel_of(r.between(0, 9), whole), s, slices, unsigned(i));
  }
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_GEMM_TEST_H
