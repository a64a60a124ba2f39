// Checks the kernels of reductions on the CPU's block policy: against plain C++
// in double precision, and that its results do not depend on the order of
// threads.
#include "runtime/routines/reduction/reduce/rows.cuh"
#include "runtime/routines/reduction/reduce/shape.h"
#include "test/runtime/cuda/row_case.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using namespace nnc_test;

namespace {

/// The result of a reduction in double precision, and the bound of its rounding
/// errors in units of 10^-6.
struct reduced {
  double value, error;
};
using reducer = std::function<reduced(const std::vector<double> &)>;

template <class T, int ARCH, class Routine>
void check_reduce(int count, bool only_positive, const reducer &reduce) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    nnc::reduce_shape s{1, random_length(r, i), 1};
    s.outer = random_rows(r, s.size);
    if (r.between(0, 9) == 0)
      s.size = 0;
    tensor<T> x(std::size_t(s.outer) * s.size, r.between(0, 4) == 0);
    const bool shifted = r.between(0, 4) == 0;
    std::vector<float> values = random_values(r, x.size(), 1,
                                              only_positive     ? 1.001f
                                              : r.between(0, 2) ? 0
                                                                : 1.0f);
    if (!only_positive && x.size() && r.between(0, 2) == 0)
      add_specials(r, values, s.size);
    x.set(values);
    INFO(describe(s));
    std::vector<char> first;
    for (const unsigned seed : {1u, 2u}) {
      tensor<T> y(std::size_t(s.outer), shifted);
      const std::string error = launch<ARCH>(
          typename Routine::kernels(), seed * 77 + unsigned(i), s,
          [&](auto &grid) {
            grid.may_read(x.data(), x.bytes());
            grid.may_write(y.data(), y.bytes());
          },
          static_cast<const T *>(x.data()), y.data(), nnc::none());
      REQUIRE(error == "");
      REQUIRE((seed == 1 || first == y.content()));
      first = y.content();
      for (int row = 0; row < s.outer; ++row) {
        std::vector<double> v;
        for (int k = 0; k < s.size; ++k)
          v.push_back(static_cast<double>(
              static_cast<float>(x[std::size_t(row) * s.size + k])));
        const reduced want = reduce(v);
        REQUIRE(agrees(y[std::size_t(row)], want.value, want.error * 1e-6));
      }
    }
  }
}

reduced sum_of(const std::vector<double> &x, double (*map)(double)) {
  double sum = 0, size = 0;
  for (const double v : x) {
    sum += map(v);
    size += std::fabs(map(v));
  }
  return {sum, size};
}
reduced extreme_of(const std::vector<double> &x, double sign) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double v : x)
    best = std::isnan(v) || v * sign > best ? v * sign : best;
  return {best * sign, 0};
}

} // namespace

#define NNC_ROUTINE_OF(NAME)                                                   \
  nnc::reduce_##NAME##_f32_rows_sm75<nnc::reduce_shape, nnc::none>

TEST_CASE("reductions on blocks: sums") {
  const auto sum = [](const std::vector<double> &x) {
    return sum_of(x, [](double v) { return v; });
  };
  check_reduce<float, 75, NNC_ROUTINE_OF(sum)>(40, false, sum);
  check_reduce<nnc::f16, 80, NNC_ROUTINE_OF(sum)>(40, false, sum);
  check_reduce<nnc::bf16, 80, NNC_ROUTINE_OF(sum)>(20, false, sum);
  const auto mean = [&](const std::vector<double> &x) {
    const reduced all = sum(x);
    return reduced{all.value / double(x.size()), all.error / double(x.size())};
  };
  check_reduce<nnc::f16, 75, NNC_ROUTINE_OF(mean)>(40, false, mean);
  check_reduce<float, 75, NNC_ROUTINE_OF(l1)>(
      20, false, [](const std::vector<double> &x) {
        return sum_of(x, [](double v) { return std::fabs(v); });
      });
  const auto squares = [](const std::vector<double> &x) {
    return sum_of(x, [](double v) { return v * v; });
  };
  check_reduce<float, 75, NNC_ROUTINE_OF(sum_square)>(20, false, squares);
  check_reduce<float, 75, NNC_ROUTINE_OF(l2)>(
      20, false, [&](const std::vector<double> &x) {
        const double root = std::sqrt(squares(x).value);
        return reduced{root, root};
      });
}

TEST_CASE("reductions on blocks: maxima and minima") {
  const auto largest = [](const std::vector<double> &x) {
    return extreme_of(x, 1);
  };
  const auto smallest = [](const std::vector<double> &x) {
    return extreme_of(x, -1);
  };
  check_reduce<float, 75, NNC_ROUTINE_OF(max)>(40, false, largest);
  check_reduce<nnc::f16, 75, NNC_ROUTINE_OF(max)>(20, false, largest);
  check_reduce<float, 75, NNC_ROUTINE_OF(min)>(20, false, smallest);
}

TEST_CASE("reductions on blocks: products and logarithms") {
  check_reduce<float, 75, NNC_ROUTINE_OF(prod)>(
      20, true, [](const std::vector<double> &x) {
        double product = 1;
        for (const double v : x)
          product *= v;
        return reduced{product,
                       std::fabs(product) * double(x.size()) * 0.1 + 1e-32};
      });
  check_reduce<float, 75, NNC_ROUTINE_OF(log_sum)>(
      20, true, [](const std::vector<double> &x) {
        const double sum = sum_of(x, [](double v) { return v; }).value;
        return reduced{std::log(sum), 2};
      });
  check_reduce<float, 75, NNC_ROUTINE_OF(log_sum_exp)>(
      40, false, [](const std::vector<double> &x) {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0;
        for (const double v : x)
          largest = std::fmax(largest, v);
        const double taken = std::isfinite(largest) ? largest : 0;
        for (const double v : x)
          sum += std::exp(v - taken);
        const double value = taken + std::log(sum);
        return reduced{value, 2 + std::fabs(value)};
      });
}
