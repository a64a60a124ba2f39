// Checks float_gemm.cuh on the CPU's block policy: each output against its sum
// in double precision, and that results do not depend on the order of threads.
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "test/runtime/check.h"
#include "test/runtime/conv2d_test.h"
#include "test/runtime/cuda/float_case.h"
#include "test/runtime/cuda/gemm_test.h"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace nnc_test;

namespace {

/// A routine, and what it is called with.
struct float_kernel {
  const char *name;
  float_result (*run)(const float_case<float> &, std::uint64_t seed);
};

/// Runs a routine for a run-time shape.
template <class R>
float_result run(const float_case<float> &c, std::uint64_t seed) {
  return run_routine<R>(c, c.s, R::scratch(c.s), seed);
}

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int SLICES>
struct turing : nnc::conv2d_f32_nhwc_sm75<S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                                          SLICES, float_epilogue<float>> {
  static std::ptrdiff_t scratch(const S &s) {
    return nnc::gemm_slice_bytes(s, SLICES);
  }
};
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          int SLICES>
struct ampere
    : nnc::conv2d_f32_nhwc_sm80<S, ROWS, COLUMNS, DEPTH, WARP_ROWS, STAGES,
                                SLICES, float_epilogue<float>> {
  static std::ptrdiff_t scratch(const S &s) {
    return nnc::gemm_slice_bytes(s, SLICES);
  }
};

using shape = nnc::conv2d_shape;
#define NNC_FLOAT_KERNEL(...) {#__VA_ARGS__, run<__VA_ARGS__>}
const float_kernel kernels[] = {
    NNC_FLOAT_KERNEL(ampere<shape, 64, 64, 32, 32, 3, 1>),
    NNC_FLOAT_KERNEL(turing<shape, 32, 32, 32, 32, 1>),
    NNC_FLOAT_KERNEL(ampere<shape, 32, 64, 64, 16, 2, 3>),
    NNC_FLOAT_KERNEL(turing<shape, 64, 32, 64, 64, 2>),
#if !defined(NNC_GEMM_FEW_TILES) // as the test of mutants has, to save time
    NNC_FLOAT_KERNEL(ampere<shape, 128, 128, 32, 64, 4, 1>),
    NNC_FLOAT_KERNEL(turing<shape, 128, 64, 32, 64, 1>),
    NNC_FLOAT_KERNEL(ampere<shape, 32, 32, 128, 16, 4, 5>),
    NNC_FLOAT_KERNEL(ampere<shape, 16, 128, 128, 16, 3, 2>),
    NNC_FLOAT_KERNEL(turing<shape, 16, 64, 64, 16, 4>),
#endif
};
constexpr int kernel_count = sizeof(kernels) / sizeof(kernels[0]);

/// A random shape without groups: convolutions of all kinds, and products.
shape random_float_shape(random_source &r) {
  shape s = random_shape(r, 4);
  if (s.groups > 1) {
    s.c /= s.groups;
    s.k /= s.groups;
    s.groups = 1;
  }
  return s;
}

/// A shape of constants, as emitted modules have them.
struct constant_shape {
  static constexpr int n = 2, c = 20, h = 9, w = 7, k = 40, kh = 3, kw = 3,
                       sh = 2, sw = 1, dh = 1, dw = 2, pt = 1, pl = 2, oh = 5,
                       ow = 7, groups = 1;
};

} // namespace

TEST_CASE("products of floats on random shapes") {
  random_source r;
  for (int i = 0; i < 420; ++i) {
    const shape s = random_float_shape(r);
    REQUIRE(nnc::float_gemm_applies(s));
    const float_kernel &kernel = kernels[r.between(0, kernel_count - 1)];
    const contents what = i % 8 == 0   ? contents::infinite
                          : i % 4 == 0 ? contents::large
                                       : contents::small;
    INFO(kernel.name << describe(s));
    const float_case<float> c(s, false, what, unsigned(i));
    const float_result first = kernel.run(c, unsigned(i));
    REQUIRE(first.error == "");
    const float_result second = kernel.run(c, unsigned(i) + 1000);
    REQUIRE(second.error == "");
    REQUIRE(first.bytes == second.bytes);
  }
}

TEST_CASE("products of floats of one element, row or column") {
  for (const float_kernel &kernel : kernels)
    for (const int channels : {1, 3, 4, 33})
      for (const int pixels : {1, 65})
        for (const int filters : {1, 8, 33}) {
          shape s{};
          s.n = s.h = s.kh = s.kw = s.sh = s.sw = s.dh = s.dw = s.oh = 1;
          s.groups = 1;
          s.w = s.ow = pixels;
          s.c = channels;
          s.k = filters;
          INFO(kernel.name << describe(s));
          const float_case<float> c(s, false, contents::small, 7);
          REQUIRE(kernel.run(c, 1).error == "");
        }
}

TEST_CASE("products of floats have the same bits in every order of threads") {
  random_source r;
  for (int i = 0; i < kernel_count; ++i) {
    const shape s = random_float_shape(r);
    INFO(kernels[i].name << describe(s));
    const float_case<float> c(s, false, contents::small, 1);
    const float_result first = kernels[i].run(c, 0);
    for (unsigned seed = 1; seed < 12; ++seed) {
      const float_result other = kernels[i].run(c, seed);
      REQUIRE(other.error == "");
      REQUIRE(other.bytes == first.bytes);
    }
  }
}

TEST_CASE("products of floats of a constant shape have the same bits") {
  const float_case<float> c(run_time_shape<constant_shape>(), false,
                            contents::small, 1);
  const auto check = [&](const float_result &constants,
                         const float_result &others) {
    REQUIRE(constants.error == "");
    CHECK(constants.bytes == others.bytes);
  };
  using one = ampere<constant_shape, 64, 64, 32, 32, 3, 1>;
  check(run_routine<one>(c, constant_shape{}, 0, 1), kernels[0].run(c, 1));
  using three = ampere<constant_shape, 32, 64, 64, 16, 2, 3>;
  check(run_routine<three>(c, constant_shape{},
                           three::scratch(constant_shape{}), 1),
        kernels[2].run(c, 1));
}

TEST_CASE("products of floats of matrices have the bits of a convolution") {
  shape s{};
  s.n = s.h = s.kh = s.kw = s.sh = s.sw = s.dh = s.dw = s.oh = s.groups = 1;
  s.w = s.ow = 45;
  s.c = 70;
  s.k = 50;
  const float_case<float> c(s, false, contents::small, 1);
  using product = nnc::matmul_as_conv2d;
  using routine = turing<product, 32, 32, 32, 32, 1>;
  const float_result result =
      run_routine<routine>(c, product(s.w, s.k, s.c), 0, 1);
  REQUIRE(result.error == "");
  CHECK(result.bytes == kernels[1].run(c, 1).bytes);
}
