// Tests the error of every math function in ulp, over the whole range of float,
// against the C library's function on double, and vectors against scalars.
#include "runtime/simd/math.h"
#include "runtime/simd/pow.h"
#include "runtime/simd/trig.h"
#include "test/runtime/check.h"
#include "test/runtime/widths.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

using nnc::f32x;
using nnc_test::widest;

namespace {

float from_bits(std::uint32_t u) {
  return nnc::bit_cast_float(static_cast<std::int32_t>(u));
}

/// Returns the difference of `got` and `want` in units of the last place of a
/// float of that size.
double ulps(float got, double want) {
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) && std::isnan(got) ? 0.0 : 1e9;
  const float rounded = static_cast<float>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    // Just past the largest float both it and infinity are near.
    if (rounded == got)
      return 0.0;
    return std::fabs(want) > 0x1.fffffp127 && std::fabs(want) < 0x1.00001p128 &&
                   std::signbit(got) == std::signbit(rounded)
               ? 1.0
               : 1e9;
  }
  int exponent = std::ilogb(want == 0.0 ? 0x1p-149 : want);
  double ulp = std::ldexp(1.0, (exponent < -126 ? -126 : exponent) - 23);
  return std::fabs(static_cast<double>(got) - want) / ulp;
}

// An emulator takes a hundred times as long for RISC-V's vectors as a machine.
#if defined(__riscv)
constexpr std::uint32_t kStride = 1048573;
constexpr std::int32_t kNeighbours = 40;
#elif defined(__x86_64__)
constexpr std::uint32_t kStride = 4093;
constexpr std::int32_t kNeighbours = 500;
#else // in an emulator
constexpr std::uint32_t kStride = 32749;
constexpr std::int32_t kNeighbours = 500;
#endif

/// Returns the step with which tests visit the 2^32 bit patterns of floats.
/// NNC_MATH_STRIDE=1 visits all of them.
std::uint32_t stride() {
  if (const char *text = std::getenv("NNC_MATH_STRIDE"))
    return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
  return kStride;
}

/// Calls f with arguments from all over the range of floats, at regular
/// distances, and with the kNeighbours floats on both sides of each point at
/// which a function changes its method.
template <class F> void for_each_argument(F f) {
  const std::uint64_t step = stride();
  for (std::uint64_t u = 0; u < (std::uint64_t(1) << 32); u += step)
    f(from_bits(static_cast<std::uint32_t>(u)));
  for (float point :
       {0.0f,         0.25f,  0.34657f,    0.5f,       0.70710678f,
        0.9375f,      1.0f,   1.41421356f, 1.5707963f, 2.0f,
        3.1415927f,   4.0f,   9.01f,       10.0f,      16.6f,
        17.3f,        30.0f,  87.33f,      88.72283f,  89.4f,
        90.0f,        103.9f, 106.0f,      8192.0f,    1.17549435e-38f,
        3.4028235e38f})
    for (float sign : {-1.0f, 1.0f}) {
      std::int32_t bits = nnc::bit_cast_int(sign * point);
      for (std::int32_t d = -kNeighbours; d <= kNeighbours; ++d)
        f(nnc::bit_cast_float(static_cast<std::int32_t>(
            static_cast<std::uint32_t>(bits) + static_cast<std::uint32_t>(d))));
    }
}

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b)
                       : nnc::bit_cast_int(a) == nnc::bit_cast_int(b);
}

template <int W, class F>
void check_lanes(const std::vector<float> &in, const std::vector<float> &want,
                 F f) {
  for (std::size_t i = 0; i + W <= in.size(); i += W) {
    float out[W];
    f(f32x<W>::load(&in[i])).store(out);
    for (int l = 0; l < W; ++l)
      if (!same(out[l], want[i + l])) {
        INFO("W=" << W << " x=" << in[i + l] << " lane " << out[l] << " scalar "
                  << want[i + l]);
        REQUIRE(false);
      }
  }
}

template <class F, class G>
void check(const char *name, double bound, F f, G reference) {
  double worst = 0;
  float at = 0;
  std::vector<float> in, want;
  auto lanes_too = [&] {
    check_lanes<widest>(in, want, f);
    check_lanes<4>(in, want, f);
    in.clear();
    want.clear();
  };
  INFO(name);
  for_each_argument([&](float x) {
    float y = f(x);
    double e = ulps(y, reference(static_cast<double>(x)));
    if (e > worst) {
      worst = e;
      at = x;
    }
    in.push_back(x);
    want.push_back(y);
    if (in.size() == 4096)
      lanes_too();
  });
  in.resize((in.size() + 15) / 16 * 16, 1.0f);
  while (want.size() < in.size())
    want.push_back(f(1.0f));
  lanes_too();
  INFO("worst at " << at << ": " << f(at) << " for " << reference(at));
  std::printf("%-12s %.3f ulp at %a\n", name, worst, static_cast<double>(at));
  CHECK(worst <= bound);
}

} // namespace

#define CHECK_FUNCTION(NAME, BOUND)                                            \
  check(                                                                       \
      #NAME, BOUND, [](auto x) { return nnc::NAME(x); },                       \
      [](double x) { return std::NAME(x); })

TEST_CASE("exponentials and logarithms stay within their bounds", "[math]") {
  CHECK_FUNCTION(exp, 1.0);
  check(
      "exp_or_zero", 1.0, [](auto x) { return nnc::exp_or_zero(x); },
      [](double x) { return x < -87.0 ? 0.0 : std::exp(x); });
  CHECK_FUNCTION(expm1, 2.0);
  CHECK_FUNCTION(log, 1.0);
  CHECK_FUNCTION(log1p, 1.5);
  CHECK_FUNCTION(sqrt, 0.5);
  check(
      "rsqrt", 1.5, [](auto x) { return nnc::rsqrt(x); },
      [](double x) { return 1.0 / std::sqrt(x); });
  check(
      "reciprocal", 0.5, [](auto x) { return nnc::reciprocal(x); },
      [](double x) { return 1.0 / x; });
}

TEST_CASE("activations stay within their bounds", "[math]") {
  CHECK_FUNCTION(tanh, 3.0);
  CHECK_FUNCTION(erf, 1.5);
  check(
      "sigmoid", 2.5, [](auto x) { return nnc::sigmoid(x); },
      [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
}

TEST_CASE("circular functions stay within their bounds", "[math]") {
  CHECK_FUNCTION(sin, 2.5);
  CHECK_FUNCTION(cos, 2.5);
  CHECK_FUNCTION(tan, 4.0);
  CHECK_FUNCTION(asin, 2.5);
  CHECK_FUNCTION(acos, 1.5);
  CHECK_FUNCTION(atan, 1.5);
}

TEST_CASE("hyperbolic functions stay within their bounds", "[math]") {
  CHECK_FUNCTION(sinh, 2.0);
  CHECK_FUNCTION(cosh, 1.5);
  CHECK_FUNCTION(asinh, 2.5);
  CHECK_FUNCTION(acosh, 2.5);
  CHECK_FUNCTION(atanh, 2.5);
}

TEST_CASE("pow stays within its bound", "[math]") {
  double worst = 0;
  std::uint32_t state = 12345;
  auto next = [&] { return state = state * 1664525u + 1013904223u; };
  std::vector<float> xs, ys;
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, HUGE_VALF,
                  -HUGE_VALF, std::numeric_limits<float>::quiet_NaN(), 1e-45f,
                  -1e-40f, 3.4028235e38f, 1.0000001f, 0.99999994f})
    for (float y :
         {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, 3.0f, -3.0f, 0.5f, -0.5f, HUGE_VALF,
          -HUGE_VALF, std::numeric_limits<float>::quiet_NaN(), 1e30f, -1e30f,
          16777215.0f, 16777216.0f, 33554431.0f, 8388607.5f, 1e9f}) {
      xs.push_back(x);
      ys.push_back(y);
    }
  const int samples = stride() > 10000 ? 200000 : 2000000;
  for (int i = 0; i < samples; ++i) {
    float x = from_bits(next()), y = from_bits(next());
    if (i % 4) // where the result is neither 0, 1 nor infinite
      y = static_cast<float>(
          (static_cast<double>(next()) / 4294967296.0 - 0.5) * 300.0 /
          std::fmax(1e-30, std::fabs(std::log2(std::fabs(x)))));
    if (i % 16 == 3)
      y = std::rint(y);
    if (i % 8 == 5) {
      x = 1.0f + static_cast<float>(next() % 2001 - 1000.0) * 1e-4f;
      y = static_cast<float>(
          (static_cast<double>(next()) / 4294967296.0 - 0.5) * 300.0 /
          std::fmax(1e-30, std::fabs(std::log2(std::fabs(x)))));
    }
    xs.push_back(x);
    ys.push_back(y);
  }
  float at_x = 0, at_y = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    float got = nnc::pow(xs[i], ys[i]);
    double e = ulps(
        got, std::pow(static_cast<double>(xs[i]), static_cast<double>(ys[i])));
    if (e > worst) {
      worst = e;
      at_x = xs[i];
      at_y = ys[i];
    }
  }
  INFO("pow(" << at_x << ", " << at_y << ") = " << nnc::pow(at_x, at_y));
  std::printf("%-12s %.3f ulp at %a, %a\n", "pow", worst,
              static_cast<double>(at_x), static_cast<double>(at_y));
  CHECK(worst <= 3.5);
  for (std::size_t i = 0; i + widest <= xs.size(); i += widest) {
    float out[widest], out4[widest];
    nnc::pow(f32x<widest>::load(&xs[i]), f32x<widest>::load(&ys[i])).store(out);
    for (int l = 0; l < widest; l += 4)
      nnc::pow(f32x<4>::load(&xs[i + l]), f32x<4>::load(&ys[i + l]))
          .store(out4 + l);
    for (int l = 0; l < widest; ++l) {
      bool equal =
          same(out[l], nnc::pow(xs[i + l], ys[i + l])) && same(out4[l], out[l]);
      if (!equal) {
        INFO("pow(" << xs[i + l] << ", " << ys[i + l] << ") lanes " << out[l]
                    << ", " << out4[l]);
        REQUIRE(equal);
      }
    }
  }
}

TEST_CASE("double goes to the C library", "[math]") {
  CHECK(nnc::exp(1.5) == std::exp(1.5));
  CHECK(nnc::sigmoid(-800.0) == 0.0);
  CHECK(nnc::pow(2.0, 0.5) == std::pow(2.0, 0.5));
  CHECK(nnc::atanh(0.3) == std::atanh(0.3));
}
