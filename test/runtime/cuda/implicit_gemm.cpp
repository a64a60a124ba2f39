// Checks implicit_gemm.cuh with halves on the CPU's block policy: against sums
// in double precision, and that its results do not depend on the order of
// threads.
#include "test/runtime/check.h"
#include "test/runtime/conv2d_test.h"
#include "test/runtime/cuda/gemm_test.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace nnc_test;

namespace {

gemm_kernel<nnc::f16> ampere_kernel_of(int i, bool whole) {
  using T = nnc::f16;
  static const gemm_kernel<T> wholes[] = {
      NNC_GEMM_KERNEL(middle_tile, true, 80),
      NNC_GEMM_KERNEL(small_tile, true, 80),
      NNC_GEMM_KERNEL(wide_tile, true, 80),
      NNC_GEMM_KERNEL(tall_tile, true, 80),
#if !defined(NNC_GEMM_FEW_TILES) // as the test of mutants has, to save time
      NNC_GEMM_KERNEL(deep_tile, true, 80),
      NNC_GEMM_KERNEL(large_tile, true, 80),
#endif
  };
  static const gemm_kernel<T> parts[] = {
      NNC_GEMM_KERNEL(middle_tile, false, 80),
      NNC_GEMM_KERNEL(small_tile, false, 80)};
  return whole ? wholes[i % (sizeof(wholes) / sizeof(wholes[0]))]
               : parts[i % 2];
}
gemm_kernel<nnc::f16> turing_kernel_of(int i, bool whole) {
  using T = nnc::f16;
  static const gemm_kernel<T> wholes[] = {
      NNC_GEMM_KERNEL(middle_tile, true, 75),
      NNC_GEMM_KERNEL(tall_tile, true, 75)};
  static const gemm_kernel<T> parts[] = {
      NNC_GEMM_KERNEL(small_tile, false, 75)};
  return whole ? wholes[i % 2] : parts[0];
}

/// A shape of constants, as emitted modules have them.
struct constant_shape {
  static constexpr int n = 2, c = 32, h = 9, w = 7, k = 40, kh = 3, kw = 3,
                       sh = 2, sw = 1, dh = 1, dw = 2, pt = 1, pl = 2, oh = 5,
                       ow = 7, groups = 1;
};

} // namespace

TEST_CASE("implicit GEMM of halves for sm_80") {
  check_random<nnc::f16>(300, ampere_kernel_of);
}

TEST_CASE("implicit GEMM of halves for sm_75") {
  check_random<nnc::f16>(120, turing_kernel_of);
}

TEST_CASE("implicit GEMM has the same bits in every order of threads") {
  random_source r;
  for (int i = 0; i < 6; ++i) {
    const nnc::conv2d_shape s = random_shape(r, 8);
    const gemm_kernel<nnc::f16> kernel =
        ampere_kernel_of(i, s.c / s.groups % 8 == 0);
    INFO(kernel.name << describe(s));
    const gemm_case<nnc::f16> c(s, 1);
    const gemm_result first = kernel.run(c, 3, 0);
    for (unsigned seed = 1; seed < 16; ++seed) {
      const gemm_result other = kernel.run(c, 3, seed);
      REQUIRE(other.error == "");
      REQUIRE(other.bytes == first.bytes);
    }
  }
}

TEST_CASE("a constant shape gives the same bits as a run-time shape") {
  using T = nnc::f16;
  const gemm_case<T> c(run_time_shape<constant_shape>(), 1);
  for (const int slices : {1, 3}) {
    const gemm_result constants =
        run_gemm<T, middle_tile, true, 80, constant_shape>(c, slices, 1);
    REQUIRE(constants.error == "");
    CHECK(constants.relative <= bound<T>);
    CHECK(constants.bytes ==
          run_gemm<T, middle_tile, true, 80>(c, slices, 1).bytes);
  }
}

TEST_CASE("packed weights hold each weight once, and zeros") {
  const auto check_pack = [](auto element, int c, int k, int kh, int kw) {
    using T = decltype(element);
    nnc::conv2d_shape s{};
    s.groups = 2;
    s.c = 2 * c;
    s.k = 2 * k;
    s.kh = kh;
    s.kw = kw;
    const int terms = nnc::gemm_terms(s);
    std::vector<int> used(std::size_t(s.k) * terms);
    device_memory<unsigned char> packed(nnc::packed_weight_bytes(s, sizeof(T)));
    nnc::pack_gemm_weights<T>(
        s,
        [&](int filter, int term) {
          REQUIRE(filter < s.k);
          REQUIRE(term < terms);
          ++used[std::size_t(filter) * terms + term];
          return T(1);
        },
        packed.data());
    for (const int times : used)
      REQUIRE(times == 1);
    std::size_t ones = 0;
    for (std::size_t i = 0; i < packed.size(); i += sizeof(T)) {
      T value;
      std::memcpy(static_cast<void *>(&value), packed.data() + i, sizeof(T));
      const float x = static_cast<float>(value);
      REQUIRE((x == 0 || x == 1));
      ones += x == 1;
    }
    CHECK(ones == used.size());
  };
  check_pack(nnc::f16(), 3, 7, 3, 3);
  check_pack(nnc::f16(), 16, 40, 1, 2);
  check_pack(float(), 5, 33, 1, 1);
  check_pack(std::int8_t(), 3, 64, 5, 1);
}
