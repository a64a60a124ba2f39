// Matrix product with packed panels of b, at every width.
#include "runtime/routines/matmul/packed.h"
#include "test/runtime/matmul_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <int W, int M, int B, class S>
void check(random_source &random, const S &shape, const matmul_shape &s) {
  using routine = matmul_f32_packed_t<W, S, M, B, matmul_epilogue>;
  check_matmul(random, shape, s, W, routine::units(shape), routine::run);
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

TEMPLATE_TEST_CASE_SIG("packed matmul of random shapes", "[matmul]",
                       ((int W), W), NNC_TEST_WIDTHS) {
  random_source random;
  for (int i = 0; i < 60; ++i) {
    matmul_shape s{};
    s.batch = random.between(1, 3);
    s.m = random.between(1, 30);
    s.n = random.between(1, 70);
    s.k = random.between(1, 400);
    s.a_batch_stride = random.between(0, 1) * s.m * s.k;
    s.b_batch_stride = random.between(0, 1) * s.n * s.k;
    s.transpose_a = random.between(0, 1);
    check<W, 6, 2>(random, s, s);
    check<W, 14, 1>(random, s, s);
  }
}

TEMPLATE_TEST_CASE_SIG("packed matmul of constant shapes", "[matmul]",
                       ((int W), W), NNC_TEST_WIDTHS) {
  random_source random;
  check_constant<W, 6, 2, constant_shape<13, 100, 77>>(random);
  check_constant<W, 13, 2, constant_shape<16, 33, 300>>(random);
  // Rows a power of two apart, longer than one copy of them.
  check_constant<W, 8, 2, constant_shape<10, 40, 2048>>(random);
}
