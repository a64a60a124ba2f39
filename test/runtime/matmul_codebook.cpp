// Tests matrix products of a few rows with weights of few values, with vectors
// of every width: results equal the sums of floats bit for bit.
#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/matrix/matmul/codebook.h"
#include "test/runtime/matmul_test.h"
#include "test/runtime/transformed_weights.h"

using namespace nnc;
using namespace nnc_test;

namespace {

/// Returns the sum of products of one element of the result, added up in order.
float sum(const matmul_shape &s, const floats &a, const floats &b, int row,
          int column) {
  float x = 0;
  for (int k = 0; k < s.k; ++k)
    x = nnc::fma(a[s.transpose_a ? k * s.m + row : row * s.k + k],
                 b[std::size_t(k) * s.n + column], x);
  return x;
}

template <int W, int M, int B, class S>
void check(random_source &random, const S &shape, const matmul_shape &s) {
  using routine = matmul_f32_codebook_t<W, S, M, B, matmul_epilogue>;
  INFO("W=" << W << describe(s));
  REQUIRE(codebook_applies(s, M));
  const floats a = random.values(s.m * s.k), bias = random.values(s.n),
               residual = random.values(s.m * s.n);
  floats b = random.values(s.k * s.n), got = residual;
  share_values(b);
  const floats packed = codebook_weights(s, b, W);
  REQUIRE(std::ptrdiff_t(sizeof(float) * packed.size()) ==
          ceil_div(s.n, W) * codebook16::panel(s.k, W));
  const matmul_epilogue epilogue{bias.data(), got.data()};
  in_parts(routine::units(shape), [&](int begin, int end) {
    routine::run(shape, a.data(), packed.data(), got.data(), epilogue, begin,
                 end);
  });
  floats want = residual;
  const matmul_epilogue scalar{bias.data(), want.data()};
  for (int i = 0; i < s.m * s.n; ++i)
    want[i] =
        scalar(sum(s, a, b, i / s.n, i % s.n), position<true>{i, i % s.n});
  REQUIRE(got == want);
}

template <int W, int M, int B, class S> void check_constant(random_source &r) {
  check<W, M, B>(r, S{}, run_time_matmul<S>());
}

} // namespace

TEMPLATE_TEST_CASE("products of random shapes with few values", "[codebook]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  for (int i = 0; i < 40; ++i) {
    matmul_shape s{};
    s.batch = 1;
    s.n = random.between(1, 100);
    s.k = random.between(1, random.between(0, 3) ? 60 : 700);
    s.transpose_a = random.between(0, 1);
    s.m = 1;
    check<W, 1, 4>(random, s, s);
    check<W, 1, 2>(random, s, s);
    s.m = random.between(1, 2);
    check<W, 2, 3>(random, s, s);
    s.m = random.between(4, 6);
    check<W, 6, 2>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("products of constant shapes with few values", "[codebook]",
                   wide<NNC_TEST_WIDTHS>) {
  constexpr int W = TestType::W;
  random_source random;
  check_constant<W, 1, 4, constant_product<1, 100, 77>>(random);
  check_constant<W, 4, 2, constant_product<3, 33, 256>>(random);
  check_constant<W, 6, 2, constant_product<5, 6 * W, 1>>(random);
}
