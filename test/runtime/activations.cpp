// Tests the relative error of activations against their formulas in double. The
// arguments have both signs and magnitudes from 1e-30 to 100, spaced evenly on
// a logarithmic scale. elementwise.cpp checks absolute errors.
#include "runtime/simd/elementwise.h"
#include "test/runtime/check.h"
#include "test/runtime/widths.h"

#include <cmath>
#include <cstdio>
#include <vector>

using nnc::f32x;
using nnc_test::widest;

namespace {

std::vector<float> logarithmic_arguments() {
  std::vector<float> x;
#if defined(__x86_64__)
  const int per_decade = 1500;
#else
  const int per_decade = 200; // in an emulator
#endif
  for (int i = -30 * per_decade; i <= 2 * per_decade; ++i)
    for (double sign : {1.0, -1.0})
      x.push_back(
          static_cast<float>(sign * std::pow(10.0, double(i) / per_decade)));
  x.resize(x.size() / 16 * 16);
  return x;
}

/// The largest allowed error of an activation, relative to its value: at most
/// `bound` where low <= x <= high. In addition, an error of half a unit of the
/// smallest float is allowed, times |x| if that is larger than 1: products with
/// numbers below the normal range have it.
struct relative_bound {
  double bound, low, high;
};

template <class F, class G>
void check_relative(const char *name, relative_bound allowed, F f, G want) {
  static const std::vector<float> x = logarithmic_arguments();
  double worst = 0;
  float at = 0;
  const auto compare = [&](float argument, float got) {
    const auto v = static_cast<double>(argument);
    if (v < allowed.low || v > allowed.high)
      return;
    const double expected = want(v);
    const double least = 0x1p-149 * std::fmax(1.0, std::fabs(v));
    const double error =
        (std::fabs(static_cast<double>(got) - expected) - least) /
        std::fabs(expected);
    if (!(error <= worst)) {
      worst = error;
      at = argument;
    }
  };
  for (std::size_t i = 0; i < x.size(); i += widest) {
    float y[widest];
    f(f32x<widest>::load(&x[i])).store(y);
    for (std::size_t l = 0; l < widest; ++l) {
      compare(x[i + l], y[l]);
      compare(x[i + l], f(x[i + l]));
    }
  }
  INFO(name << " at " << at << ": " << f(at) << " for " << want(double(at)));
  std::printf("%-12s %.3g of the value at %a\n", name, worst, double(at));
  CHECK(worst <= allowed.bound);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double cubic_gelu(double x) {
  return x * logistic(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}

constexpr double unbounded = HUGE_VAL;
/// The relative error of a real number that is rounded to a float.
constexpr double rounding = 0x1p-24;

} // namespace

#define CHECK_RELATIVE(NAME, LOW, HIGH, BOUND, WANT)                           \
  check_relative(                                                              \
      #NAME, {BOUND, LOW, HIGH}, [](auto x) { return nnc::NAME(x); },          \
      [](double x) -> double { return WANT; })

TEST_CASE("gates are accurate near 0", "[activations]") {
  // Their error of values that are near 0 for very negative x is absolute.
  CHECK_RELATIVE(gelu, -0.25, unbounded, 5e-7,
                 x * 0.5 * std::erfc(-x / std::sqrt(2.0)));
  CHECK_RELATIVE(gelu_tanh, -0.25, unbounded, 8e-7, cubic_gelu(x));
  CHECK_RELATIVE(silu, -0.25, unbounded, 5e-7, x * logistic(x));
  check_relative(
      "quick_gelu", {6e-7, -0.125, unbounded},
      [](auto x) {
        using V = decltype(x);
        return nnc::silu(x * V(1.75f)) * V(1 / 1.75f);
      },
      [](double x) { return x * logistic(1.75 * x); });
}

TEST_CASE("activations made of exponentials are accurate near 0",
          "[activations]") {
  CHECK_RELATIVE(softplus, -unbounded, unbounded, 3 * rounding,
                 std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))));
  check_relative(
      "log_sigmoid", {3 * rounding, -unbounded, unbounded},
      [](auto x) { return -nnc::softplus(-x); },
      [](double x) {
        return std::fmin(x, 0) - std::log1p(std::exp(-std::fabs(x)));
      });
  CHECK_RELATIVE(mish, -80, unbounded, 8 * rounding,
                 x * std::tanh(std::log1p(std::exp(x))));
  CHECK_RELATIVE(sigmoid, -unbounded, unbounded, 5 * rounding, logistic(x));
  CHECK_RELATIVE(tanh, -unbounded, unbounded, 6 * rounding, std::tanh(x));
  CHECK_RELATIVE(erf, -unbounded, unbounded, 3 * rounding, std::erf(x));
  check_relative(
      "elu", {5 * rounding, -unbounded, unbounded},
      [](auto x) { return nnc::elu(x, decltype(x)(1.5f)); },
      [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; });
  check_relative(
      "selu", {6 * rounding, -unbounded, unbounded},
      [](auto x) {
        using V = decltype(x);
        return nnc::selu(x, V(1.75f), V(1.125f));
      },
      [](double x) { return 1.125 * (x < 0 ? 1.75 * std::expm1(x) : x); });
  for (float alpha : {2.0f, 0.3f})
    check_relative(
        "celu", {6 * rounding, -unbounded, unbounded},
        [=](auto x) { return nnc::celu(x, decltype(x)(alpha)); },
        [=](double x) {
          const auto a = static_cast<double>(alpha);
          return x < 0 ? a * std::expm1(x / a) : x;
        });
}

TEST_CASE("activations without exponentials are accurate near 0",
          "[activations]") {
  CHECK_RELATIVE(hard_swish, -2.5, unbounded, 4 * rounding,
                 x * std::fmin(std::fmax(x + 3, 0), 6) / 6);
  CHECK_RELATIVE(softsign, -unbounded, unbounded, 2 * rounding,
                 x / (1 + std::fabs(x)));
  check_relative(
      "leaky_relu", {rounding, -unbounded, unbounded},
      [](auto x) { return nnc::leaky_relu(x, decltype(x)(0.3f)); },
      [](double x) { return x < 0 ? double(0.3f) * x : x; });
}

TEST_CASE("differences from 1 are accurate near 0", "[activations]") {
  CHECK_RELATIVE(expm1, -unbounded, 88, 4 * rounding, std::expm1(x));
  CHECK_RELATIVE(log1p, -0.999, unbounded, 3 * rounding, std::log1p(x));
  CHECK_RELATIVE(sinh, -88, 88, 4 * rounding, std::sinh(x));
  CHECK_RELATIVE(asinh, -unbounded, unbounded, 5 * rounding, std::asinh(x));
  CHECK_RELATIVE(atanh, -0.999, 0.999, 5 * rounding, std::atanh(x));
}
