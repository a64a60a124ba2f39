// Matrix product of a few rows with weights of 24 bits, at every width,
// within the bound of plain sums.
#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/matrix/matmul/integers.h"
#include "test/runtime/matmul_test.h"
#include "test/runtime/transformed_weights.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <int W, int M, int B, class S>
void check(random_source &random, const S &shape, const matmul_shape &s) {
  using routine = matmul_f32_integers_t<W, S, M, B, matmul_epilogue>;
  REQUIRE(integers_apply(s, M));
  const auto run = [&](const S &same, const float *a, const float *b, float *y,
                       const matmul_epilogue &epi, int begin, int end) {
    const floats u = integer_weights(s, floats(b, b + s.k * s.n), W);
    REQUIRE(std::ptrdiff_t(sizeof(float) * u.size()) ==
            ceil_div(s.n, W) * integers::panel(s.k, W));
    routine::run(same, a, u.data(), y, epi, begin, end);
  };
  check_matmul(random, shape, s, 0, routine::units(shape), run);
}

template <int W, int M, int B, class S> void check_constant(random_source &r) {
  check<W, M, B>(r, S{}, run_time_matmul<S>());
}

template <int W> void check_random(random_source &random, matmul_shape s) {
  s.m = 1;
  check<W, 1, 4>(random, s, s);
  s.m = random.between(1, 2);
  check<W, 2, 3>(random, s, s);
  s.m = random.between(4, 6);
  check<W, 6, 2>(random, s, s);
}

} // namespace

TEMPLATE_TEST_CASE("products of random shapes with integers", "[integers]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  for (int i = 0; i < 40; ++i) {
    matmul_shape s{};
    s.batch = 1;
    s.n = random.between(1, 100);
    s.k = random.between(1, random.between(0, 3) ? 400 : 1400);
    s.transpose_a = random.between(0, 1);
    check_random<W>(random, s);
  }
}

TEMPLATE_TEST_CASE("products of constant shapes with integers", "[integers]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  check_constant<W, 1, 4, constant_product<1, 100, 77>>(random);
  check_constant<W, 4, 2, constant_product<3, 33, 1024>>(random);
  check_constant<W, 6, 2, constant_product<5, 6 * W, 1500>>(random);
}

TEST_CASE("a scale is normal, or all weights are zeros", "[integers]") {
  REQUIRE(integers::scale(0.0f) == 0.0f);
  REQUIRE(integers::scale(1e-30f) == 0.0f);
  REQUIRE(integers::scale(1e-20f) / integers::unit > 1e-37f);
  REQUIRE(integers::scale(8388607.0f) == 1.0f);
}
