// Tests matrix products of two run-time matrices with vectors of every kind.
#include "runtime/routines/matrix/matmul/plain.h"
#include "test/runtime/matmul_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <class V, int M, int B, class S>
void check(random_source &random, const S &shape, const matmul_shape &s) {
  using T = element_of<V>;
  using routine = matmul_plain_t<V, S, M, B, matmul_epilogue_of<T>>;
  check_matmul<T>(random, shape, s, 0, routine::units(shape), routine::run);
}

template <int M, int N, int K, int TRANSPOSE_B> struct constant_shape {
  static constexpr int batch = 3, m = M, n = N, k = K;
  static constexpr int a_batch_stride = M * K, b_batch_stride = K * N;
  static constexpr int transpose_a = 0, transpose_b = TRANSPOSE_B;
};

template <class V, int M, int B, class S>
void check_constant(random_source &r) {
  check<V, M, B>(r, S{}, run_time_matmul<S>());
}

} // namespace

TEMPLATE_TEST_CASE("plain matmul of random shapes", "[matmul]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  for (int i = 0; i < 100; ++i) {
    const matmul_shape s = random_matmul(random);
    check<V, 6, 2>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("plain matmul of constant shapes", "[matmul]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  check_constant<V, 6, 2, constant_shape<40, 64, 40, 0>>(random);
  check_constant<V, 6, 2, constant_shape<9, 50, 33, 0>>(random);
  check_constant<V, 8, 1, constant_shape<40, 40, 64, 1>>(random);
  check_constant<V, 6, 2, constant_shape<130, 37, 150, 1>>(random);
  check_constant<V, 6, 2, constant_shape<4, 48, 150, 0>>(random); // in place
}
