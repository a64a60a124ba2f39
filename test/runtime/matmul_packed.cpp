// Tests matrix products with b in packed panels, with vectors of every kind.
#include "runtime/routines/matrix/matmul/packed.h"
#include "runtime/routines/units/caches.h"
#include "test/runtime/matmul_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <class V, int M, int B, class S>
void check(random_source &random, const S &shape, const matmul_shape &s) {
  using routine =
      matmul_packed_t<V, S, M, B, matmul_epilogue_of<element_of<V>>>;
  check_matmul<element_of<V>>(random, shape, s, lanes<V>, routine::units(shape),
                              routine::run);
}

template <int M, int N, int K> struct constant_shape {
  static constexpr int batch = 1, m = M, n = N, k = K;
  static constexpr int a_batch_stride = 0, b_batch_stride = 0;
  static constexpr int transpose_a = 0, transpose_b = 0;
};

template <class V, int M, int B, class S>
void check_constant(random_source &r) {
  check<V, M, B>(r, S{}, run_time_matmul<S>());
}

} // namespace

TEMPLATE_TEST_CASE("packed matmul of random shapes", "[matmul]",
                   NNC_TEST_TILES) {
  using V = TestType;
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
    check<V, 6, 2>(random, s, s);
    check<V, 14, 1>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("packed matmul of constant shapes", "[matmul]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source random;
  check_constant<V, 6, 2, constant_shape<13, 100, 77>>(random);
  check_constant<V, 13, 2, constant_shape<16, 33, 300>>(random);
  // Weights in parts, for more tiles than are done at a time.
  constexpr int few = level2_weights / (2 * lanes<V> * 4);
  check_constant<V, 12, 2, constant_shape<12 * 17 + 5, 40, few + 77>>(random);
  // Rows a power of two apart, longer than one copy of them.
  check_constant<V, 8, 2, constant_shape<10, 40, 2048>>(random);
}
