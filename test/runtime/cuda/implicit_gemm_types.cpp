// Checks implicit_gemm.cuh with other types than halves.
#include "test/runtime/check.h"
#include "test/runtime/cuda/gemm_test.h"

using namespace nnc_test;

namespace {

template <class T> gemm_kernel<T> kernel_of(int i, bool whole) {
  static const gemm_kernel<T> wholes[] = {
      NNC_GEMM_KERNEL(middle_tile, true, 80),
      NNC_GEMM_KERNEL(tall_tile, true, 80)};
  return whole ? wholes[i % 2]
               : gemm_kernel<T>
                     NNC_GEMM_KERNEL(small_tile, false, 80);
}

/// The kernel on sm_75.
template <class T> gemm_kernel<T> turing_kernel_of(int, bool whole) {
  return whole ? gemm_kernel<T> NNC_GEMM_KERNEL(middle_tile, true, 75)
               : gemm_kernel<T>
                     NNC_GEMM_KERNEL(small_tile, false, 75);
}

} // namespace

TEST_CASE("implicit GEMM of bf16") {
  check_random<nnc::bf16>(60, kernel_of<nnc::bf16>);
}

TEST_CASE("implicit GEMM of floats as tf32") {
  check_random<float>(60, kernel_of<float>);
}

TEST_CASE("implicit GEMM of signed bytes") {
  check_random<std::int8_t>(60, kernel_of<std::int8_t>);
  check_random<std::int8_t>(30, turing_kernel_of<std::int8_t>);
}

TEST_CASE("implicit GEMM of unsigned bytes") {
  check_random<std::uint8_t>(60, kernel_of<std::uint8_t>);
}
