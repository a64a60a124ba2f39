// Tests the elementwise routine against a plain loop over indices: strides,
// broadcasts, remainders of vectors, units and element types.
#include "runtime/parallel.h"
#include "runtime/routines/elementwise/elementwise.h"
#include "runtime/routines/elementwise/shape.h"
#include "runtime/simd/elementwise.h"
#include "test/runtime/check.h"
#include "test/runtime/widths.h"

#include <random>
#include <vector>

using namespace nnc;
using nnc_test::wide;

namespace {

struct scale_and_add {
  template <class V> V operator()(V a, V b, V c) const {
    return nnc::add(nnc::mul(a, b), nnc::relu(c));
  }
};
struct pick {
  float operator()(bool c, float a, std::int32_t b) const {
    return nnc::select(c, a, static_cast<float>(b));
  }
};
struct is_less {
  template <class V> auto operator()(V a, V b) const { return nnc::less(a, b); }
};

/// A random shape with three inputs. Each axis of each input is dense,
/// broadcast or, for one input in four, strided.
struct problem {
  elementwise_shape s{};
  int total = 1;
  int elements[3];
};
problem make_problem(std::mt19937 &random) {
  auto below = [&](int n) { return static_cast<int>(random() % n); };
  problem p;
  p.s.rank = 1 + below(4);
  for (int d = 0; d < p.s.rank; ++d) {
    p.s.dims[d] = 1 + below(d == p.s.rank - 1 ? 70 : 4);
    if (p.s.rank == 1 && below(3) == 0)
      p.s.dims[d] = 4000 + below(5000);
    p.total *= p.s.dims[d];
  }
  // Some of the outer axes count planes, whose places threads have, or not.
  p.s.planes = 1;
  for (int d = 0, outer = below(p.s.rank); d < outer; ++d)
    p.s.planes *= p.s.dims[d];
  p.s.pixels = below(2) ? 1 : p.total / p.s.planes;
  for (int i = 0; i < 3; ++i) {
    int stride = below(4) == 0 ? 2 : 1;
    for (int d = p.s.rank; d-- > 0;) {
      bool broadcast = below(3) == 0;
      p.s.strides[i][d] = broadcast ? 0 : stride;
      if (!broadcast)
        stride *= p.s.dims[d];
    }
    p.elements[i] = stride;
  }
  return p;
}

/// Calls f(flat output index, offset of each input) for all indices, in order.
template <class F> void for_each_index(const problem &p, F f) {
  for (int flat = 0; flat < p.total; ++flat) {
    int at[3] = {};
    for (int d = p.s.rank, rest = flat; d-- > 0; rest /= p.s.dims[d])
      for (int i = 0; i < 3; ++i)
        at[i] += rest % p.s.dims[d] * p.s.strides[i][d];
    f(flat, at);
  }
}

template <class R, class... A>
void run_in_parts(const elementwise_shape &s, A... arguments) {
  const int units = R::units(s), cut = units / 3;
  R::run(s, arguments..., 0, cut);
  R::run(s, arguments..., cut, units);
}

std::vector<float> values(std::mt19937 &random, int n) {
  std::vector<float> v(n);
  for (float &x : v)
    x = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 64;
  return v;
}

} // namespace

TEMPLATE_TEST_CASE("float inputs with any strides, at every width",
                   "[elementwise]", wide<1>, wide<2>, wide<4>, wide<8>,
                   wide<16>) {
  constexpr int W = TestType::W;
  std::mt19937 random(W);
  using R = elementwise_t<W, elementwise_shape, scale_and_add>;
  for (int round = 0; round < 200; ++round) {
    const problem p = make_problem(random);
    std::vector<float> a = values(random, p.elements[0]),
                       b = values(random, p.elements[1]),
                       c = values(random, p.elements[2]), y(p.total),
                       want(p.total);
    run_in_parts<R>(p.s, a.data(), b.data(), c.data(), y.data(),
                    scale_and_add{});
    for_each_index(p, [&](int i, const int *at) {
      const float x = c[at[2]] > 0 ? c[at[2]] : 0.0f;
      want[i] = a[at[0]] * b[at[1]] + x;
    });
    REQUIRE(y == want);
  }
}

TEST_CASE("mixed element types go one by one", "[elementwise]") {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const problem p = make_problem(random);
    std::vector<unsigned char> flags(p.elements[0]);
    for (auto &f : flags)
      f = random() % 2;
    std::vector<float> a = values(random, p.elements[1]), y(p.total);
    std::vector<std::int32_t> b(p.elements[2]);
    for (auto &v : b)
      v = static_cast<std::int32_t>(random() % 100);
    run_in_parts<elementwise_t<16, elementwise_shape, pick>>(
        p.s, reinterpret_cast<const bool *>(flags.data()), a.data(), b.data(),
        y.data(), pick{});
    for_each_index(p, [&](int i, const int *at) {
      float want = flags[at[0]] ? a[at[1]] : static_cast<float>(b[at[2]]);
      if (y[i] != want)
        REQUIRE(y[i] == want);
    });
  }
}

TEST_CASE("a comparison of floats writes bools", "[elementwise]") {
  elementwise_shape s{2, {3, 5}, {{5, 1}, {0, 1}}, 1, 1};
  std::mt19937 random(3);
  std::vector<float> a = values(random, 15), b = values(random, 5);
  bool y[15];
  using R = elementwise_avx512<elementwise_shape, is_less>;
  R::run(s, a.data(), b.data(), y, is_less{}, 0, R::units(s));
  for (int i = 0; i < 15; ++i)
    REQUIRE(y[i] == (a[i] < b[i % 5]));
}

namespace {
struct constant_shape {
  static constexpr int rank = 2, dims[] = {7, 33};
  static constexpr int strides[][2] = {{33, 1}, {1, 0}, {0, 1}};
  static constexpr int planes = 1, pixels = 1;
};
} // namespace

TEST_CASE("the output may be an input", "[elementwise]") {
  std::mt19937 random(5);
  std::vector<float> a = values(random, 231), b = values(random, 7),
                     c = values(random, 33), want(231);
  for (int i = 0; i < 231; ++i)
    want[i] = a[i] * b[i / 33] + (c[i % 33] > 0 ? c[i % 33] : 0.0f);
  launch<elementwise_t<8, constant_shape, scale_and_add>>(
      pool{}, constant_shape{}, a.data(), b.data(), c.data(), a.data(),
      scale_and_add{});
  REQUIRE(a == want);
}
