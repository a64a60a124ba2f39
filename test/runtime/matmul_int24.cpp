// Matrix product of a few rows with weights of 24 bits, at every width, within
// the bound of plain sums.
#include "runtime/routines/catalogue.h"
#include "runtime/routines/matmul/int24.h"
#include "test/runtime/matmul_test.h"
#include "test/runtime/transformed_weights.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <int W, int M, int B, class S>
void check(random_source &random, const S &shape, const matmul_shape &s) {
  using routine = matmul_f32_int24_t<W, S, M, B, matmul_epilogue>;
  REQUIRE(int24_applies(s, M));
  const auto run = [&](const S &same, const float *a, const float *b, float *y,
                       const matmul_epilogue &epi, int begin, int end) {
    const floats u = int24_weights(s, floats(b, b + s.k * s.n), W);
    REQUIRE(std::ptrdiff_t(sizeof(float) * u.size()) ==
            ceil_div(s.n, W) * int24_panel(s.k, W));
    routine::run(same, a, u.data(), y, epi, begin, end);
  };
  check_matmul(random, shape, s, 0, routine::units(shape), run);
}

template <int M, int N, int K> struct constant_shape {
  static constexpr int batch = 1, m = M, n = N, k = K;
  static constexpr int a_batch_stride = 0, b_batch_stride = 0;
  static constexpr int transpose_a = 0, transpose_b = 0;
};

template <int W, int M, int B, class S> void check_constant(random_source &r) {
  check<W, M, B>(r, S{}, run_time_matmul<S>());
}

} // namespace

TEMPLATE_TEST_CASE_SIG("products of random shapes with 24 bits", "[int24]",
                       ((int W), W), NNC_TEST_WIDTHS) {
  random_source random;
  for (int i = 0; i < 40; ++i) {
    matmul_shape s{};
    s.batch = 1;
    s.n = random.between(1, 100);
    s.k = random.between(1, random.between(0, 3) ? 400 : 1400);
    s.transpose_a = random.between(0, 1);
    s.m = 1;
    check<W, 1, 4>(random, s, s);
    s.m = random.between(1, 2);
    check<W, 2, 3>(random, s, s);
    s.m = random.between(4, 6);
    check<W, 6, 2>(random, s, s);
  }
}

TEMPLATE_TEST_CASE_SIG("products of constant shapes with 24 bits", "[int24]",
                       ((int W), W), NNC_TEST_WIDTHS) {
  random_source random;
  check_constant<W, 1, 4, constant_shape<1, 100, 77>>(random);
  check_constant<W, 4, 2, constant_shape<3, 33, 1024>>(random);
  check_constant<W, 6, 2, constant_shape<5, 6 * W, 1500>>(random);
}

TEST_CASE("a scale is normal, or all weights are zeros", "[int24]") {
  REQUIRE(int24_scale(0.0f) == 0.0f);
  REQUIRE(int24_scale(1e-30f) == 0.0f);
  REQUIRE(int24_scale(1e-20f) / int24_unit > 1e-37f);
  REQUIRE(int24_scale(8388607.0f) == 1.0f);
}
