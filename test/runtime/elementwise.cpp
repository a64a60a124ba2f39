// Tests the functions of elementwise.h: on reals against their formulas in
// double, on integers against wider arithmetic, and on vectors against scalars.
#include "runtime/simd/elementwise.h"
#include "test/runtime/check.h"
#include "test/runtime/widths.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using nnc::f32x;
using nnc_test::widest;

namespace {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<float> arguments() {
  std::vector<float> x;
  for (int i = -4000; i <= 4000; ++i)
    x.push_back(static_cast<float>(i) * 0.005f);
  for (float v : {1e-30f, 1e-8f, 1e-3f, 30.0f, 88.0f, 1e4f, 1e20f, infinity})
    for (float sign : {1.0f, -1.0f})
      x.push_back(v * sign);
  x.push_back(quiet_nan);
  x.resize((x.size() + 15) / 16 * 16, 0.25f);
  return x;
}

bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; }

bool close(double got, double want) {
  if (std::isnan(want) || std::isinf(want))
    return std::isnan(want) ? std::isnan(got) : got == want;
  return std::fabs(got - want) <= 1e-6 + 1e-6 * std::fabs(want);
}

/// The results of a function for all arguments: of floats, of vectors and of
/// doubles, and the expected ones. One function checks them for all functions,
/// because it takes longer to compile than they do.
struct results {
  std::vector<float> single, wide;
  std::vector<double> twice, want;
};

void check_results(const std::vector<float> &x, const results &y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO("x=" << x[i] << " got " << y.single[i] << " want " << y.want[i]
              << " lanes " << y.wide[i] << " double " << y.twice[i]);
    bool right = close(static_cast<double>(y.single[i]), y.want[i]) &&
                 (std::fabs(y.want[i]) > 3e38 || close(y.twice[i], y.want[i]));
    bool equal = same(y.single[i], y.wide[i]);
    if (!right || !equal) {
      CHECK(right);
      REQUIRE(equal);
    }
  }
}

/// Checks the elementwise function `f`, called with floats, doubles and vectors
/// of floats, against `want`, which computes its value in double precision. A
/// test below compares the results of vectors of all widths.
template <class F, class G> void check(const char *name, F f, G want) {
  INFO(name);
  const std::vector<float> x = arguments();
  const std::size_t n = x.size();
  results y{std::vector<float>(n), std::vector<float>(n),
            std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; i += widest)
    f(f32x<widest>::load(&x[i])).store(&y.wide[i]);
  for (std::size_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    y.single[i] = f(x[i]);
    y.twice[i] = f(v);
    y.want[i] = want(v);
  }
  check_results(x, y);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double hold(double x, double low, double high) {
  return std::isnan(x) ? x : std::fmin(std::fmax(x, low), high);
}

} // namespace

namespace {

// A struct a line of functions.inc.
#define NNC_ELEMENTWISE(NAME, TENSORS, SCALARS, HEADER)                        \
  struct function_##NAME {                                                     \
    template <class... X>                                                      \
    auto operator()(X... x) const -> decltype(nnc::NAME(x...)) {               \
      return nnc::NAME(x...);                                                  \
    }                                                                          \
  };
#include "runtime/routines/elementwise/functions.inc"

template <class V> V as_value(V x) { return x; }
template <class V> V as_value(nnc::mask_of<V> m) {
  return nnc::select(m, V(1.0f), V(0.0f));
}

/// Computes F on vectors V. Each operand has the elements of x, starting at
/// another one; the attributes are constants.
template <class F, class V, std::size_t... X, std::size_t... A>
void compute_with(const std::vector<float> &x, std::vector<float> &y,
                  std::index_sequence<X...>, std::index_sequence<A...>) {
  [[maybe_unused]] constexpr float attributes[] = {0.25f, 1.5f};
  const int count = static_cast<int>(x.size());
  for (int i = 0; i < count; i += nnc::lanes<V>)
    nnc::store(&y[i],
               as_value<V>(F()(nnc::load<V>(&x[(i + X * count / 2) % count])...,
                               V(attributes[A])...)));
}

template <class F, class V, std::size_t TENSORS, std::size_t SCALARS>
void compute(const std::vector<float> &x, std::vector<float> &y) {
  compute_with<F, V>(x, y, std::make_index_sequence<TENSORS>(),
                     std::make_index_sequence<SCALARS>());
}

using function_on_all = void (*)(const std::vector<float> &,
                                 std::vector<float> &);

/// Checks that a function gives the same results on floats and on vectors of
/// several widths.
void check_lanes(const char *name, function_on_all on_floats,
                 std::initializer_list<function_on_all> on_vectors) {
  INFO(name);
  std::vector<float> x = arguments();
  // If both arguments are NaN, which of them min and max return depends on the
  // machine.
  x.erase(std::remove_if(x.begin(), x.end(), [](float v) { return v != v; }),
          x.end());
  x.resize(x.size() / 32 * 32);
  std::vector<float> want(x.size()), got(x.size());
  on_floats(x, want);
  for (function_on_all on_lanes : on_vectors) {
    on_lanes(x, got);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!same(got[i], want[i])) {
        INFO("at " << i << ": x=" << x[i]);
        REQUIRE(got[i] == want[i]);
      }
  }
}

/// Returns true if F can be called with as many values of type V as there are
/// indices I.
template <class F, class V, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return std::is_invocable<F, std::enable_if_t<(I >= 0), V>...>::value;
}

} // namespace

TEST_CASE("each function computes on vectors what it does on floats",
          "[elementwise]") {
  int checked = 0;
#define NNC_ELEMENTWISE(NAME, TENSORS, SCALARS, HEADER)                        \
  if constexpr (TENSORS < 3 &&                                                 \
                takes<function_##NAME, f32x<widest>>(                          \
                    std::make_index_sequence<TENSORS + SCALARS>{})) {          \
    using f = function_##NAME;                                                 \
    check_lanes(#NAME, compute<f, float, TENSORS, SCALARS>,                    \
                {compute<f, f32x<4>, TENSORS, SCALARS>,                        \
                 compute<f, f32x<widest>, TENSORS, SCALARS>});                 \
    ++checked;                                                                 \
  }
#include "runtime/routines/elementwise/functions.inc"
  CHECK(checked > 50);
}

#define CHECK1(NAME, WANT)                                                     \
  check(                                                                       \
      #NAME, [](auto x) { return nnc::NAME(x); },                              \
      [](double x) -> double { return WANT; })

TEST_CASE("activations follow their formulas", "[elementwise]") {
  CHECK1(relu, std::isnan(x) ? x : std::fmax(x, 0));
  CHECK1(hard_swish, x * hold(x / 6 + 0.5, 0, 1));
  CHECK1(gelu, x * 0.5 * std::erfc(-x / std::sqrt(2.0)));
  CHECK1(gelu_tanh, x == -HUGE_VAL ? x * 0
                                   : x * sigmoid(2 * std::sqrt(2 / M_PI) *
                                                 (x + 0.044715 * x * x * x)));
  CHECK1(silu, x * sigmoid(x));
  CHECK1(softplus, std::isnan(x)
                       ? x
                       : std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))));
  CHECK1(softsign, x / (1 + std::fabs(x)));
  CHECK1(mish, x > 700 ? x : x * std::tanh(std::log1p(std::exp(x))));
  using namespace nnc;
  check(
      "hard_sigmoid",
      [](auto x) {
        using V = decltype(x);
        return hard_sigmoid(x, V(0.2f), V(0.5f));
      },
      [](double x) { return hold(double(0.2f) * x + 0.5, 0, 1); });
  check(
      "elu", [](auto x) { return elu(x, decltype(x)(1.5f)); },
      [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; });
  check(
      "selu",
      [](auto x) {
        using V = decltype(x);
        return selu(x, V(1.75f), V(1.125f));
      },
      [](double x) { return 1.125 * (x < 0 ? 1.75 * std::expm1(x) : x); });
  check(
      "celu", [](auto x) { return celu(x, decltype(x)(2.0f)); },
      [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; });
  check(
      "leaky_relu", [](auto x) { return leaky_relu(x, decltype(x)(0.25f)); },
      [](double x) { return x < 0 ? x / 4 : x; });
  check(
      "prelu", [](auto x) { return prelu(x, decltype(x)(-3.0f)); },
      [](double x) { return x < 0 ? -3 * x : x; });
  check(
      "thresholded_relu",
      [](auto x) { return thresholded_relu(x, decltype(x)(1.0f)); },
      [](double x) { return x > 1 ? x : 0; });
  check(
      "clip",
      [](auto x) {
        using V = decltype(x);
        return clip(x, V(-1.5f), V(6.0f));
      },
      [](double x) { return hold(x, -1.5, 6); });
}

TEST_CASE("activations that end at 0 are absolutely accurate",
          "[elementwise]") {
  std::vector<float> at = arguments();
  for (float x = -16; x < 16; x += 0x1p-12f)
    at.push_back(x);
  for (float each : at) {
    if (!(std::fabs(each) < 16))
      continue;
    const auto x = static_cast<double>(each);
    const auto is = [&](float got, double want) {
      INFO("x=" << each << " got " << got << " want " << want);
      REQUIRE(std::fabs(static_cast<double>(got) - want) < 1e-6);
    };
    is(nnc::gelu(each), x * 0.5 * std::erfc(-x / std::sqrt(2.0)));
    is(nnc::gelu_tanh(each),
       x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    is(nnc::silu(each), x * sigmoid(x));
  }
}

TEST_CASE("arithmetic on reals", "[elementwise]") {
  CHECK1(neg, -x);
  CHECK1(abs, std::fabs(x));
  CHECK1(sign, std::isnan(x) ? x : (x > 0) - (x < 0));
  CHECK1(floor, std::floor(x));
  CHECK1(ceil, std::ceil(x));
  CHECK1(round, std::rint(x));
  CHECK1(identity, x);
#define CHECK2(NAME, WANT)                                                     \
  for (float constant : {3.0f, -2.5f, 0.125f}) {                               \
    check(                                                                     \
        #NAME, [=](auto x) { return nnc::NAME(x, decltype(x)(constant)); },    \
        [=](double x) -> double {                                              \
          const double c = static_cast<double>(constant);                      \
          return WANT;                                                         \
        });                                                                    \
  }
  CHECK2(add, x + c);
  CHECK2(sub, x - c);
  CHECK2(mul, x * c);
  CHECK2(div, x / c);
  CHECK2(max, std::isnan(x) ? x : std::fmax(x, c));
  CHECK2(min, std::isnan(x) ? x : std::fmin(x, c));
  CHECK2(fmod, std::fmod(x, c));
  CHECK2(mod, std::fmod(x, c) != 0 && (std::fmod(x, c) < 0) != (c < 0)
                  ? std::fmod(x, c) + c
                  : std::fmod(x, c));
  CHECK(std::isnan(nnc::max(1.0f, quiet_nan)));
  CHECK(std::isnan(nnc::min(quiet_nan, 1.0)));
}

TEST_CASE("comparisons select", "[elementwise]") {
#define CHECK_COMPARISON(NAME, OP)                                             \
  check(                                                                       \
      #NAME,                                                                   \
      [](auto x) {                                                             \
        using V = decltype(x);                                                 \
        return nnc::select(nnc::NAME(x, V(0.25f)), x, V(7.0f));                \
      },                                                                       \
      [](double x) { return x OP 0.25 ? x : 7.0; })
  CHECK_COMPARISON(equal, ==);
  CHECK_COMPARISON(less, <);
  CHECK_COMPARISON(less_equal, <=);
  CHECK_COMPARISON(greater, >);
  CHECK_COMPARISON(greater_equal, >=);
  check(
      "logic",
      [](auto x) {
        using V = decltype(x);
        auto a = nnc::less(x, V(2.0f)), b = nnc::less(V(-1.0f), x);
        return nnc::select(
            nnc::logical_and(a, b), V(1.0f),
            nnc::select(nnc::logical_xor(a, nnc::is_nan(x)), V(2.0f),
                        nnc::select(nnc::logical_or(nnc::is_inf(x),
                                                    nnc::logical_not(b)),
                                    V(3.0f), V(4.0f))));
      },
      [](double x) {
        bool a = x < 2, b = -1 < x;
        return a && b                ? 1.0
               : a != std::isnan(x)  ? 2.0
               : std::isinf(x) || !b ? 3.0
                                     : 4.0;
      });
  CHECK(nnc::select(true, 1, 2) == 1);
  CHECK(nnc::select(false, true, false) == false);
  CHECK(nnc::equal(true, true));
}

namespace {
/// Checks operations on all pairs of integers of a small type against int64_t
/// arithmetic truncated to the type.
template <class T> void check_integers() {
  using limits = std::numeric_limits<T>;
  for (std::int64_t a = limits::min(); a <= limits::max(); ++a)
    for (std::int64_t b = limits::min(); b <= limits::max(); ++b) {
      const T x = static_cast<T>(a), y = static_cast<T>(b);
      bool right =
          nnc::add(x, y) == static_cast<T>(a + b) &&
          nnc::sub(x, y) == static_cast<T>(a - b) &&
          nnc::mul(x, y) == static_cast<T>(a * b) &&
          nnc::div(x, y) == static_cast<T>(b ? a / b : 0) &&
          nnc::fmod(x, y) == static_cast<T>(b ? a % b : 0) &&
          nnc::mod(x, y) == static_cast<T>(b ? ((a % b) + b) % b : 0) &&
          nnc::max(x, y) == static_cast<T>(a > b ? a : b) &&
          nnc::min(x, y) == static_cast<T>(a < b ? a : b) &&
          nnc::prelu(x, y) == static_cast<T>(a < 0 ? a * b : a) &&
          nnc::bit_and(x, y) == static_cast<T>(a & b) &&
          nnc::bit_or(x, y) == static_cast<T>(a | b) &&
          nnc::bit_xor(x, y) == static_cast<T>(a ^ b) &&
          nnc::less(x, y) == (a < b) &&
          nnc::clip(x, T(3), y) ==
              static_cast<T>((a > 3 ? a : 3) < b ? (a > 3 ? a : 3) : b);
      if (!right) {
        INFO(a << " and " << b);
        REQUIRE(right);
      }
    }
  for (std::int64_t a = limits::min(); a <= limits::max(); ++a) {
    const T x = static_cast<T>(a);
    REQUIRE(nnc::neg(x) == static_cast<T>(-a));
    REQUIRE(nnc::abs(x) == static_cast<T>(a < 0 ? -a : a));
    REQUIRE(nnc::sign(x) == static_cast<T>((a > 0) - (a < 0)));
    REQUIRE(nnc::relu(x) == static_cast<T>(a > 0 ? a : 0));
    REQUIRE(nnc::bit_not(x) == static_cast<T>(~a));
  }
}
} // namespace

TEST_CASE("integers wrap and divide towards zero", "[elementwise]") {
  check_integers<std::int8_t>();
  check_integers<std::uint8_t>();
  const std::int32_t least = std::numeric_limits<std::int32_t>::min();
  CHECK(nnc::div(least, -1) == least);
  CHECK(nnc::mod(least, -1) == 0);
  CHECK(nnc::abs(least) == least);
  CHECK(nnc::mul(std::uint16_t(65535), std::uint16_t(65535)) == 1);
  CHECK(nnc::add(std::numeric_limits<std::int64_t>::max(), std::int64_t(1)) ==
        std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("integer powers", "[elementwise]") {
  CHECK(nnc::pow(3, 4) == 81);
  CHECK(nnc::pow(-2, 5) == -32);
  CHECK(nnc::pow(0, 0) == 1);
  CHECK(nnc::pow(-1, -3) == -1);
  CHECK(nnc::pow(-1, -4) == 1);
  CHECK(nnc::pow(5, -1) == 0);
  CHECK(nnc::pow(std::int64_t(3), std::int64_t(39)) == 4052555153018976267);
  CHECK(nnc::pow(std::uint8_t(2), std::uint8_t(9)) == 0);
}

TEST_CASE("casts stay in range", "[elementwise]") {
  CHECK(nnc::cast<std::int32_t>(-2.7f) == -2);
  CHECK(nnc::cast<std::int32_t>(3e9f) == 2147483647);
  CHECK(nnc::cast<std::int32_t>(-infinity) == -2147483647 - 1);
  CHECK(nnc::cast<std::int64_t>(1e19) ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(nnc::cast<std::int64_t>(quiet_nan) == 0);
  CHECK(nnc::cast<std::uint8_t>(255.5f) == 255);
  CHECK(nnc::cast<std::uint8_t>(-1.0f) == 0);
  CHECK(nnc::cast<std::int8_t>(300) == 44);
  CHECK(nnc::cast<bool>(0.5f));
  CHECK_FALSE(nnc::cast<bool>(std::int64_t(0)));
  CHECK(nnc::cast<float>(true) == 1.0f);
  CHECK(nnc::cast<float>(std::int64_t(1) << 40) == 0x1p40f);
  float out[8];
  nnc::cast<float>(f32x<8>(2.5f)).store(out);
  CHECK(out[7] == 2.5f);
}
