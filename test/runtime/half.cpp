// Tests halves and bf16 in memory, and vectors that compute with halves.
#include "runtime/routines/elementwise/elementwise.h"
#include "runtime/routines/elementwise/shape.h"
#include "runtime/routines/moves/adapt/blocks.h"
#include "runtime/routines/moves/adapt/portable.h"
#include "runtime/routines/moves/adapt/shape.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/vec_neonfp16.h"
#include "test/runtime/blocked.h"
#include "test/runtime/check.h"

#include <cstdint>
#include <cstring>

using namespace nnc;
using namespace nnc_test;

namespace {

using bits = std::uint16_t;

template <class T = f16> T from_bits(bits b) {
  T x;
  std::memcpy(static_cast<void *>(&x), &b, sizeof(x));
  return x;
}
template <class T> bits to_bits(T x) {
  bits b;
  std::memcpy(&b, &x, sizeof(x));
  return b;
}

/// Returns the value of a half by the definition of the format, with arithmetic
/// that is exact in double.
double value_of(bits b) {
  const int exponent = b >> 10 & 31, fraction = b & 1023;
  const double sign = b & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31)
    return fraction ? std::nan("") : sign * INFINITY;
  return exponent ? sign * std::ldexp(1024 + fraction, exponent - 25)
                  : sign * std::ldexp(fraction, -24);
}

floats random_floats(int count) {
  random_source random;
  return random.values(count);
}

template <class V> std::vector<float> lanes_of(V v) {
  std::vector<float> x(lanes<V>);
  store(x.data(), v);
  return x;
}

/// Returns a[3] * b + c, by a multiply-add with a lane where there is an
/// instruction for that.
template <class V> V multiply_by_lane_3(V a, V b, V c) {
  if constexpr (multiplies_by_lane<V>)
    return fma_lane(a, 3, b, c);
  else
    return fma(V(f16(lanes_of(widen(a))[3])), b, c);
}

} // namespace

TEST_CASE("every half is a float, and comes back", "[half]") {
  for (int b = 0; b < 0x10000; ++b) {
    const float x = from_bits(bits(b));
    const double want = value_of(bits(b));
    INFO(b);
    if (std::isnan(want)) {
      REQUIRE(std::isnan(x));
      REQUIRE(std::isnan(float(f16(x))));
    } else {
      REQUIRE(double(x) == want);
      REQUIRE(std::signbit(x) == std::signbit(want));
      REQUIRE(to_bits(f16(x)) == b);
    }
  }
}

TEST_CASE("floats round to the nearest half, ties to even", "[half]") {
  // Between each two neighbours: the middle, and what lies beside it.
  for (int b = 0; b < 0x7c00; ++b) {
    const double low = value_of(bits(b));
    const double high = b == 0x7bff ? 65536.0 : value_of(bits(b + 1));
    const float middle = float((low + high) / 2);
    const int even = b % 2 ? b + 1 : b;
    INFO(b);
    for (int sign : {0, 0x8000}) {
      const float one = sign ? -1.0f : 1.0f;
      REQUIRE(to_bits(f16(one * middle)) == (sign | even));
      REQUIRE(to_bits(f16(one * std::nextafter(middle, 0.0f))) == (sign | b));
      REQUIRE(to_bits(f16(one * std::nextafter(middle, 1e9f))) ==
              (sign | (b + 1)));
    }
  }
  REQUIRE(to_bits(f16(1e9f)) == 0x7c00);
  REQUIRE(to_bits(f16(-INFINITY)) == 0xfc00);
}

TEMPLATE_TEST_CASE("vectors of float from and to halves", "[half]",
                   NNC_TEST_VECTORS) {
  using V = TestType;
  constexpr int W = lanes<V>;
  const floats x = random_floats(W);
  const std::vector<f16> memory = store_all<f16>(x);
  const floats want = rounded<f16>(x);
  REQUIRE(lanes_of(load<V>(memory.data())) == want);
  std::vector<f16> all(W + 1, f16(7.0f));
  store(all.data(), load<V>(x.data()));
  REQUIRE(load_all(std::vector<f16>(all.begin(), all.end() - 1)) == want);
  REQUIRE(float(all.back()) == 7.0f);
  for (int count = 0; count <= W; ++count) {
    floats first = want;
    std::fill(first.begin() + count, first.end(), 0.0f);
    REQUIRE(lanes_of(load<V>(memory.data(), count)) == first);
    std::fill(first.begin() + count, first.end(), 7.0f);
    std::fill(all.begin(), all.end(), f16(7.0f));
    store(all.data(), load<V>(x.data()), count);
    REQUIRE(load_all(std::vector<f16>(all.begin(), all.end() - 1)) == first);
  }
}

TEST_CASE("every bf16 is a float, and comes back", "[half]") {
  for (int b = 0; b < 0x10000; ++b) {
    const float want = bit_cast_float(std::int32_t(std::uint32_t(b) << 16));
    const bf16 x = from_bits<bf16>(bits(b));
    INFO(b);
    if (std::isnan(want)) {
      REQUIRE(std::isnan(float(x)));
      REQUIRE(std::isnan(float(bf16(want))));
    } else {
      REQUIRE(float(x) == want);
      REQUIRE(to_bits(bf16(want)) == b);
    }
  }
}

TEST_CASE("floats round to the nearest bf16, ties to even", "[half]") {
  // A float has 16 more bits behind those of a bf16.
  for (int b = 0; b < 0x7f80; ++b)
    for (int sign : {0, 0x8000})
      for (int rest : {0x0001, 0x7fff, 0x8000, 0x8001, 0xffff}) {
        const auto all = std::uint32_t(sign | b) << 16 | std::uint32_t(rest);
        const bool up = rest > 0x8000 || (rest == 0x8000 && b % 2);
        INFO(b << " " << rest);
        REQUIRE(to_bits(bf16(bit_cast_float(std::int32_t(all)))) ==
                (sign | (b + up)));
      }
}

TEMPLATE_TEST_CASE("vectors of float from and to bf16", "[half]",
                   NNC_TEST_VECTORS) {
  using V = TestType;
  constexpr int W = lanes<V>;
  const floats x = random_floats(W);
  const std::vector<bf16> memory = store_all<bf16>(x);
  const floats want = rounded<bf16>(x);
  REQUIRE(lanes_of(load<V>(memory.data())) == want);
  REQUIRE(lanes_of(round_to<bf16>(load<V>(x.data()))) == want);
  REQUIRE(lanes_of(round_to<f16>(load<V>(x.data()))) == rounded<f16>(x));
  for (int count = 0; count <= W; ++count) {
    floats first = want;
    std::fill(first.begin() + count, first.end(), 0.0f);
    REQUIRE(lanes_of(load<V>(memory.data(), count)) == first);
    std::fill(first.begin() + count, first.end(), 7.0f);
    std::vector<bf16> all(W, bf16(7.0f));
    store(all.data(), load<V>(x.data()), count);
    REQUIRE(load_all(all) == first);
  }
}

TEMPLATE_TEST_CASE("vectors round any float as one float is", "[half]",
                   NNC_TEST_VECTORS) {
  using V = TestType;
  constexpr int W = lanes<V>;
  std::uint32_t state = 1;
  for (int round = 0; round < 5000; ++round) {
    floats x(W);
    for (float &value : x) {
      state = state * 1664525 + 1013904223;
      // Ties, infinity, NaN and numbers below the normal range are frequent.
      const std::uint32_t rest = state >> 8 & 3, kind = state >> 10 & 7;
      std::uint32_t all =
          (state & 0xffff0000) | (rest == 3 ? state & 0xffff : 0x7fff + rest);
      all = kind == 0 ? all | 0x7f800000 : kind == 1 ? all & 0x807fffff : all;
      value = bit_cast_float(std::int32_t(all));
    }
    bf16 memory[W], factors[W];
    store(memory, load<V>(x.data()));
    round_factors<V>(factors, x.data());
    for (int i = 0; i < W; ++i) {
      INFO(round << " " << x[size_t(i)]);
      const bf16 want(x[size_t(i)]);
      REQUIRE(to_bits(memory[i]) == to_bits(want));
      if (std::isnan(x[size_t(i)]))
        REQUIRE(std::isnan(float(factors[i])));
      else if (std::fabs(x[size_t(i)]) >= 0x1p-126f)
        REQUIRE(to_bits(factors[i]) == to_bits(want));
      else
        REQUIRE(std::fabs(float(factors[i])) <= 0x1p-126f);
    }
  }
}

TEST_CASE("vectors that compute with halves", "[half]") {
  using V = f16x<8>;
  // Products and sums of these are halves.
  const floats x = {1, -2, 3, 0.5f, -0.25f, 8, 0, -7};
  const floats y = {4, 0.5f, -1, 16, 2, -0.125f, 3, 1};
  const auto mx = store_all<f16>(x), my = store_all<f16>(y);
  const V vx = V::load(mx.data()), vy = V::load(my.data());
  REQUIRE(lanes_of(widen(vx)) == x);
  REQUIRE(lanes_of(widen(V(widen(vy)))) == y);
  REQUIRE(lanes_of(widen(V(my[3]))) == floats(8, 16.0f));
  REQUIRE(lanes_of(widen(V::load(mx.data(), 2))) ==
          floats{1, -2, 0, 0, 0, 0, 0, 0});
  floats sum(8), products(8);
  for (int i = 0; i < 8; ++i) {
    sum[i] = x[i] * y[i] + x[i];
    products[i] = x[3] * y[i] + x[i];
  }
  REQUIRE(lanes_of(widen(fma(vx, vy, vx))) == sum);
  REQUIRE(lanes_of(widen(multiply_by_lane_3(vx, vy, vx))) == products);
  std::vector<f16> out(8);
  vy.store(out.data());
  REQUIRE(load_all(out) == y);
}

TEST_CASE("adapt of halves", "[half]") {
  random_source random;
  for (int round = 0; round < 40; ++round) {
    const int pairs[][2] = {{1, 8}, {8, 1}, {8, 16}, {32, 8}};
    const int *b = pairs[round % 4];
    const adapt_shape s{2,
                        random.between(1, 50),
                        random.between(1, 6),
                        random.between(1, 9),
                        b[0],
                        b[1]};
    const auto size = [&](int block) {
      return std::size_t(s.n) * blocks(s.c, block) * block * s.h * s.w;
    };
    const auto plain = store_all<f16>(random.values(size(1)));
    adapt_shape in = s;
    in.block_in = 1;
    in.block_out = s.block_in;
    using reference = adapt_portable<adapt_shape, none>;
    using routine = adapt_f16_neonfp16<adapt_shape, none>;
    std::vector<f16> x(size(s.block_in)), got(size(s.block_out)), want = got;
    reference::run(in, plain.data(), x.data(), none{}, 0, reference::units(in));
    reference::run(s, x.data(), want.data(), none{}, 0, reference::units(s));
    routine::run(s, x.data(), got.data(), none{}, 0, routine::units(s));
    REQUIRE(load_all(got) == load_all(want));
  }
}

namespace {
struct scaled_sum {
  template <class V> V operator()(V a, V b) const { return a * V(0.5f) + b; }
};

/// Checks the elementwise routine on halves and floats with results of type Y.
template <int W, class Y> void check_elementwise(int count) {
  elementwise_shape s{};
  s.rank = 1;
  s.dims[0] = count;
  s.strides[0][0] = s.strides[1][0] = 1;
  random_source random;
  const auto a = store_all<f16>(random.values(count));
  const floats b = random.values(count);
  std::vector<Y> got(count);
  using routine = elementwise_t<W, elementwise_shape, scaled_sum>;
  routine::run(s, a.data(), b.data(), got.data(), scaled_sum{}, 0,
               routine::units(s));
  for (int i = 0; i < count; ++i)
    REQUIRE(float(got[i]) == float(Y(float(a[i]) * 0.5f + b[i])));
}
} // namespace

TEST_CASE("elementwise layers of halves", "[half]") {
  for (int count : {1, 7, 8, 37}) {
    check_elementwise<1, f16>(count);
    check_elementwise<widest, f16>(count);
    check_elementwise<widest, float>(count);
  }
}
