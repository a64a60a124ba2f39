// Tests matrix products by Strassen's method with vectors of every kind.
// Products of floats must stay within the error bound of plain sums.
#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/matrix/matmul/strassen.h"
#include "test/runtime/matmul_test.h"
#include "test/runtime/transformed_weights.h"

using namespace nnc;
using namespace nnc_test;

namespace {

template <class V, int L, int P, int B, class S>
void check(random_source &random, const S &shape, const matmul_shape &s) {
  constexpr int W = lanes<V>;
  using T = element_of<V>;
  using epilogue = matmul_epilogue_of<T>;
  using routine = matmul_strassen_t<V, S, L, P, B, epilogue>;
  REQUIRE(strassen_matmul_applies(s, L, W));
  const int threads = random.between(1, 20);
  const std::size_t bytes = plan_strassen_matmul(s, L, W, P, B, sizeof(T))
                                .shared(threads)
                                .thread_scratch();
  floats scratch = not_written(bytes / sizeof(float) + 1);
  scratch.back() = 42.0f;
  const auto run = [&](const S &same, const T *a, const T *b, T *y,
                       const epilogue &epi, int begin, int end) {
    const auto u =
        store_all<T>(strassen_weights(s, floats(b, b + s.k * s.n), L, W));
    routine::run(same, a, u.data(), y,
                 reinterpret_cast<unsigned char *>(scratch.data()), epi, begin,
                 end, threads);
  };
  check_matmul<T>(random, shape, s, 0, routine::units(shape, threads), run,
                  strassen_bound<T>(L, s.k));
  REQUIRE(scratch.back() == 42.0f);
}

template <int M, int N, int K> struct constant_shape {
  static constexpr int batch = 1, m = M, n = N, k = K;
  static constexpr int a_batch_stride = 0, b_batch_stride = 0;
  static constexpr int transpose_a = 0, transpose_b = 0;
};

template <class V, int L, int P, int B, class S>
void check_constant(random_source &r) {
  if constexpr (has_levels<V, L>)
    check<V, L, P, B>(r, S{}, run_time_matmul<S>());
}

} // namespace

TEMPLATE_TEST_CASE("Strassen's product of random shapes", "[strassen]",
                   NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>;
  random_source random;
  for (int i = 0; i < 40; ++i) {
    matmul_shape s{};
    s.batch = random.between(1, 3);
    s.m = random.between(1, 40);
    s.n = 2 * W * random.between(1, 4);
    s.k = 2 * W * random.between(1, 9);
    s.a_batch_stride = random.between(0, 1) * s.m * s.k;
    check<V, 1, 5, 2>(random, s, s);
    check<V, 1, 4, 3>(random, s, s);
    s.n *= 2;
    s.k *= 2;
    s.a_batch_stride *= 2;
    // With another tile of products two levels do what one does.
    if constexpr (has_levels<V, 2>)
      check<V, 2, 5, 2>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("Strassen's product of constant shapes", "[strassen]",
                   NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>;
  random_source random;
  check_constant<V, 1, 6, 2, constant_shape<13, 6 * W, 4 * W>>(random);
  check_constant<V, 2, 6, 2, constant_shape<13, 12 * W, 8 * W>>(random);
  // More than one strip, and sums of several parts.
  check_constant<V, 1, 6, 2, constant_shape<300, 2 * W, 1024>>(random);
  if constexpr (has_levels<V, 2>) {
    const auto s = run_time_matmul<constant_shape<300, 4 * W, 1024>>();
    check<V, 2, 5, 2>(random, s, s);
  }
}

TEMPLATE_TEST_CASE("All runs of a point may come before the next point",
                   "[strassen]", NNC_TEST_TILES) {
  using V = TestType;
  // Weights that are many times the left factor, for which there would else be
  // several strips; runs of one block are left over.
  using shape = constant_shape<96, 32 * 17, 2048>;
  random_source random;
  if constexpr (sizeof(element_of<V>) == sizeof(float)) {
    static_assert(
        plan_strassen_matmul(shape(), 1, lanes<V>, 5, 3).points_first);
    check_constant<V, 1, 5, 3, shape>(random);
  }
}
