// Checks depthwise_nhwc.cuh on the CPU's block policy: each output against its
// sum in double precision, and that results do not depend on the order of
// threads.
#include "runtime/routines/convolution/conv2d/depthwise_nhwc.cuh"
#include "test/runtime/check.h"
#include "test/runtime/conv2d_test.h"
#include "test/runtime/cuda/float_case.h"

#include <cstdint>

using namespace nnc_test;

namespace {

using shape = nnc::conv2d_shape;

template <class S, class T, int PIXELS> struct depthwise;
template <class S, int PIXELS>
struct depthwise<S, float, PIXELS>
    : nnc::conv2d_f32_nhwc_depthwise_sm75<S, PIXELS, float_epilogue<float>> {};
template <class S, int PIXELS>
struct depthwise<S, nnc::f16, PIXELS>
    : nnc::conv2d_f16_nhwc_depthwise_sm75<S, PIXELS, float_epilogue<nnc::f16>> {
};

template <class S, int PIXELS>
struct depthwise<S, nnc::bf16, PIXELS>
    : nnc::conv2d_bf16_nhwc_depthwise_sm80<S, PIXELS,
                                           float_epilogue<nnc::bf16>> {};

template <class T>
float_result run(const float_case<T> &c, int pixels, std::uint64_t seed) {
  switch (pixels) {
  case 1:
    return run_routine<depthwise<shape, T, 1>>(c, c.s, 0, seed);
  case 2:
    return run_routine<depthwise<shape, T, 2>>(c, c.s, 0, seed);
  default:
    return run_routine<depthwise<shape, T, 4>>(c, c.s, 0, seed);
  }
}

shape random_depthwise(random_source &r, int elements) {
  shape s = random_conv2d(r, 12);
  s.groups = s.c = s.k = elements * r.between(1, r.between(0, 1) ? 4 : 24);
  if (r.between(0, 2) == 0) { // the common windows
    s.kh = s.kw = 2 * r.between(1, 2) + 1;
    s.sh = s.sw = r.between(1, 2);
    s.dh = s.dw = 1;
  }
  pad_randomly(r, s);
  return s;
}

template <class T> void check_random(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    const shape s = random_depthwise(r, 16 / int(sizeof(T)));
    REQUIRE(nnc::depthwise_nhwc_applies(s, sizeof(T)));
    const int pixels = 1 << r.between(0, 2);
    const contents what = i % 8 == 0   ? contents::infinite
                          : i % 4 == 0 ? contents::large
                                       : contents::small;
    INFO("pixels " << pixels << describe(s));
    const float_case<T> c(s, true, what, unsigned(i));
    const float_result first = run<T>(c, pixels, unsigned(i));
    REQUIRE(first.error == "");
    REQUIRE(run<T>(c, pixels, unsigned(i) + 1000).bytes == first.bytes);
  }
}

/// Shapes of constants, as emitted modules have them.
template <int KH, int KW, int SH, int SW, int DH, int DW, int PT, int PL,
          int OH, int OW>
struct constants {
  static constexpr int n = 2, c = 24, h = 9, w = 11, k = 24, kh = KH, kw = KW,
                       sh = SH, sw = SW, dh = DH, dw = DW, pt = PT, pl = PL,
                       oh = OH, ow = OW, groups = 24;
};

/// Checks that a constant shape gives the bits of a run-time shape, whose
/// results are right.
template <class S, class T> void check_constants() {
  const float_case<T> c(run_time_shape<S>(), true, contents::small, 1);
  INFO(describe(c.s));
  const auto check = [&](const float_result &result) {
    REQUIRE(result.error == "");
    CHECK(result.bytes == run<T>(c, 1, 1).bytes);
  };
  check(run_routine<depthwise<S, T, 3>>(c, S{}, 0, 1));
#if !defined(NNC_GEMM_FEW_TILES) // as the test of mutants has, to save time
  check(run_routine<depthwise<S, T, 4>>(c, S{}, 0, 2));
#endif
}
template <class T> void check_all_constants() {
  check_constants<constants<3, 3, 1, 1, 1, 1, 1, 1, 9, 11>, T>();
  check_constants<constants<3, 3, 2, 2, 1, 1, 1, 1, 5, 6>, T>();
  check_constants<constants<3, 3, 1, 1, 2, 2, 2, 2, 9, 11>, T>();
  check_constants<constants<5, 5, 1, 1, 1, 1, 0, 2, 5, 11>, T>();
  check_constants<constants<5, 2, 2, 3, 1, 2, 2, 0, 5, 3>, T>();
  check_constants<constants<1, 1, 1, 3, 1, 1, 0, 0, 9, 4>, T>();
  check_constants<constants<2, 9, 1, 1, 1, 1, 0, 4, 8, 11>, T>();
  check_constants<constants<1, 17, 1, 1, 1, 1, 0, 8, 9, 11>, T>();
}

} // namespace

TEST_CASE("depthwise convolutions of floats on random shapes") {
  check_random<float>(220);
}

TEST_CASE("depthwise convolutions of halves on random shapes") {
  check_random<nnc::f16>(220);
}

TEST_CASE("depthwise convolutions of bf16 on random shapes") {
  check_random<nnc::bf16>(80);
}

TEST_CASE("depthwise convolutions of constant shapes have the same bits") {
#if !defined(NNC_GEMM_FEW_TILES)
  check_all_constants<float>();
#endif
  check_all_constants<nnc::f16>();
}

TEST_CASE("depthwise convolutions apply to whole chunks of channels") {
  shape s{};
  s.n = s.h = s.w = s.kh = s.kw = s.sh = s.sw = s.dh = s.dw = s.oh = s.ow = 1;
  s.groups = s.c = s.k = 4;
  CHECK(nnc::depthwise_nhwc_applies(s, 4));
  CHECK_FALSE(nnc::depthwise_nhwc_applies(s, 2));
  s.k = 8; // two filters for each channel
  CHECK_FALSE(nnc::depthwise_nhwc_applies(s, 4));
  s.groups = s.c = s.k = 6;
  CHECK_FALSE(nnc::depthwise_nhwc_applies(s, 4));
}
