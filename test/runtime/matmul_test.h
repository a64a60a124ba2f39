// Checks a matmul routine against the portable one.
#ifndef NNC_TEST_MATMUL_TEST_H
#define NNC_TEST_MATMUL_TEST_H

#include "runtime/epilogue.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/matrix/matmul/shape.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"
#include "test/runtime/random_shapes.h"

#include <functional>

namespace nnc_test {

template <class T>
using matmul_epilogue_of =
    nnc::fused<bias_residual_relu, nnc::channel_of<float>, nnc::full_of<T>>;
using matmul_epilogue = matmul_epilogue_of<float>;

/// A shape of one product whose sizes are constants.
template <int M, int N, int K> struct constant_product {
  static constexpr int batch = 1, m = M, n = N, k = K;
  static constexpr int a_batch_stride = 0, b_batch_stride = 0;
  static constexpr int transpose_a = 0, transpose_b = 0;
};

/// Returns the run-time shape with the constants of S.
template <class S> nnc::matmul_shape run_time_matmul() {
  return {
      S::batch,          S::m,           S::n,          S::k, S::a_batch_stride,
      S::b_batch_stride, S::transpose_a, S::transpose_b};
}

/// A function that runs a routine with elements of type T on a shape that it
/// knows, from unit `begin` to `end`. With it, check_matmul() is compiled once
/// for T instead of once for each routine.
template <class T>
using matmul_routine =
    std::function<void(const T *a, const T *b, T *y,
                       const matmul_epilogue_of<T> &, int begin, int end)>;

/// Runs `routine` in three parts, with the residual in the output's memory, and
/// checks the results. If panel > 0, b is packed in panels of that many
/// columns. `more` is the error that is allowed in addition to that of sums.
template <class T>
NNC_NOINLINE void
check_matmul_of(random_source &random, const nnc::matmul_shape &s, int panel,
                int units, const matmul_routine<T> &routine, float more) {
  INFO("panel=" << panel << describe(s));
  const std::size_t b_count = s.b_batch_stride ? s.batch : 1;
  const std::size_t a_count = s.a_batch_stride ? s.batch : 1;
  const floats a = rounded<T>(random.values(a_count * s.m * s.k));
  const floats b = rounded<T>(random.values(b_count * s.k * s.n));
  const floats bias = random.values(s.n);
  const floats residual =
      rounded<T>(random.values(std::size_t(s.batch) * s.m * s.n));

  floats want(residual.size()), size(residual.size());
  using plain = nnc::matmul_portable<nnc::matmul_shape, matmul_epilogue>;
  plain::run(s, a.data(), b.data(), want.data(),
             matmul_epilogue{bias.data(), residual.data()}, 0, plain::units(s));
  using sums = nnc::matmul_portable<nnc::matmul_shape, nnc::none>;
  sums::run(s, magnitudes(a).data(), magnitudes(b).data(), size.data(),
            nnc::none{}, 0, sums::units(s));

  floats packed = b;
  if (panel > 0) {
    packed.clear();
    for (std::size_t i = 0; i < b_count; ++i) {
      const floats one(b.begin() + i * s.k * s.n,
                       b.begin() + (i + 1) * s.k * s.n);
      const floats columns = block_columns(one, s.k, s.n, panel);
      packed.insert(packed.end(), columns.begin(), columns.end());
    }
  }
  const auto ta = store_all<T>(a), tb = store_all<T>(packed);
  auto got = store_all<T>(residual);
  const matmul_epilogue_of<T> epilogue{bias.data(), got.data()};
  in_parts(units, [&](int begin, int end) {
    routine(ta.data(), tb.data(), got.data(), epilogue, begin, end);
  });

  for (std::size_t i = 0; i < want.size(); ++i) {
    const float bound = error_bound<T>(float(s.k), size[i]) + more;
    if (!(std::fabs(float(got[i]) - want[i]) <= bound)) {
      INFO("at " << i << ": got " << float(got[i]) << ", want " << want[i]);
      REQUIRE(std::fabs(float(got[i]) - want[i]) <= bound);
    }
  }
}

/// Checks `routine(shape, a, b, y, epilogue, begin, end)` in the same way;
/// `shape` has the values of s.
template <class T = float, class S, class Run>
void check_matmul(random_source &random, const S &shape,
                  const nnc::matmul_shape &s, int panel, int units, Run routine,
                  float more = 0) {
  check_matmul_of<T>(
      random, s, panel, units,
      [&](const T *a, const T *b, T *y, const matmul_epilogue_of<T> &epilogue,
          int begin,
          int end) { routine(shape, a, b, y, epilogue, begin, end); },
      more);
}

} // namespace nnc_test

#endif // NNC_TEST_MATMUL_TEST_H
