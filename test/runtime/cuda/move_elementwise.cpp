// Checks the kernels of elementwise functions on the CPU's block policy against
// the portable routine, bit by bit: broadcasts, steps, tails, types of
// elements, and changes of layout.
#include "runtime/routines/catalogue/moves.h"
#include "runtime/routines/elementwise/blocks.cuh"
#include "runtime/routines/elementwise/elementwise.h"
#include "runtime/routines/elementwise/shape.h"
#include "runtime/routines/elementwise/transposes.cuh"
#include "runtime/simd/elementwise.h"
#include "runtime/simd/number.h"
#include "test/runtime/cuda/move_case.h"

#include <tuple>

using namespace nnc_test;

namespace {

using shape = nnc::elementwise_shape;

/// Functors as emitted modules have them.
struct scale_and_add {
  template <class V> NNC_FN V operator()(V a, V b, V c) const {
    return nnc::add(nnc::mul(a, b), nnc::relu(c));
  }
};
struct rectify {
  template <class V> NNC_FN V operator()(V a) const { return nnc::relu(a); }
};
struct scale_of_number {
  template <class V> NNC_FN V operator()(V a, V b) const {
    return nnc::mul(a, b);
  }
};
struct pick {
  NNC_FN float operator()(bool c, float a, std::int32_t b) const {
    return nnc::select(c, a, static_cast<float>(b));
  }
};
struct dequantize {
  NNC_FN float operator()(std::int8_t a, float scale) const {
    return static_cast<float>(a) * scale;
  }
};
struct halve_sum {
  NNC_FN std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const {
    return static_cast<std::uint8_t>((a + b) / 2);
  }
};
struct is_less {
  NNC_FN bool operator()(std::int64_t a, std::int64_t b) const { return a < b; }
};

/// A shape with `inputs` inputs, each of which is dense, constant or, in one of
/// eight, with gaps along some of the axes, and the elements of each.
struct problem {
  shape s{};
  int total = 1, elements[nnc::max_elementwise_inputs];
};
problem random_problem(random_source &r, int inputs) {
  problem p;
  p.s.rank = r.between(0, 9) ? r.between(1, 4) : r.between(5, nnc::max_axes);
  const int unit = r.between(0, 2) ? 16 : 1;
  for (int d = 0; d < p.s.rank; ++d) {
    p.s.dims[d] = d + 1 < p.s.rank ? r.between(1, p.s.rank > 4 ? 2 : 5)
                                   : unit * r.between(1, 100 / unit);
    if (p.s.rank == 1 && r.between(0, 2) == 0)
      p.s.dims[d] = r.between(4000, 9000);
    p.total *= p.s.dims[d];
  }
  p.s.planes = p.s.pixels = 1;
  for (int i = 0; i < inputs; ++i) {
    int stride = r.between(0, 7) == 0 ? 2 : 1;
    p.elements[i] = 1;
    for (int d = p.s.rank; d-- > 0;) {
      const bool constant = r.between(0, 3) == 0;
      p.s.strides[i][d] = constant ? 0 : stride;
      if (constant)
        continue;
      p.elements[i] += (p.s.dims[d] - 1) * stride;
      stride *= p.s.dims[d];
      stride += r.between(0, 15) == 0 ? unit : 0;
    }
  }
  return p;
}

template <class R, int ARCH, class F, class Y, class... X>
void check_routine(random_source &r, unsigned seed, const problem &p,
                   const tensor<X> &...x) {
  const tensor<Y> y(p.total, r.between(0, 5) == 0);
  set_bits(r, y);
  const std::vector<char> before = y.content();
  run_portable<nnc::elementwise_portable<shape, F>>(p.s, x.data()..., y.data(),
                                                    F());
  const std::vector<char> want = y.content();
  INFO(describe(p.s));
  check_launch<R, ARCH>(
      seed, p.s, y, before, want,
      [&](auto &grid) { (grid.may_read(x.data(), x.bytes()), ...); },
      static_cast<const X *>(x.data())..., y.data(), F());
}

/// Checks F from inputs of types X to Y.
template <int ARCH, class F, class Y, class First, class... X>
void check(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    const problem p = random_problem(r, 1 + int(sizeof...(X)));
    int input = 0;
    const auto make = [&](auto zero) {
      tensor<decltype(zero)> x(p.elements[input++], r.between(0, 9) == 0);
      set_bits(r, x);
      return x;
    };
    // In the order of the inputs.
    std::tuple<tensor<First>, tensor<X>...> inputs{make(First()), make(X())...};
    std::apply(
        [&](const auto &...x) {
          check_routine<nnc::elementwise_runs_sm75<sizeof(First), shape, F>,
                        ARCH, F, Y>(r, unsigned(i), p, x...);
        },
        inputs);
  }
}

/// A function of an image between NCHW and NHWC, and of `numbers` numbers.
problem image_problem(random_source &r, bool to_nhwc, int numbers) {
  problem p;
  const int n = r.between(1, 2),
            channels = r.between(0, 1) ? r.between(1, 5) : r.between(6, 90),
            unit = r.between(0, 1) ? 8 : 1,
            pixels = unit * r.between(2, (channels > 5 ? 150 : 600) / unit);
  p.total = p.elements[0] = n * channels * pixels;
  p.s = {3, {n, pixels, channels}, {{channels * pixels, 1, pixels}}, 1, 1};
  if (!to_nhwc)
    p.s = {3, {n, channels, pixels}, {{channels * pixels, 1, channels}}, 1, 1};
  for (int i = 1; i <= numbers; ++i)
    p.elements[i] = 1;
  return p;
}

template <int CHANNELS, int ARCH, class F, class Y, class X, class... N>
void check_channels(random_source &r, unsigned seed, const problem &p,
                    const tensor<X> &x, const tensor<N> &...numbers) {
  check_routine<nnc::elementwise_channels_sm75<sizeof(X), shape, CHANNELS, F>,
                ARCH, F, Y>(r, seed, p, x, numbers...);
}

/// Checks F from an image of X to one of Y in another layout.
template <int ARCH, class F, class Y, class X, class... N>
void check_transposed(int count) {
  random_source r;
  int transposed = 0, few = 0;
  for (int i = 0; i < count; ++i) {
    const problem p = image_problem(r, i % 2, sizeof...(N));
    const tensor<X> x(p.elements[0], r.between(0, 9) == 0);
    set_bits(r, x);
    std::tuple<tensor<N>...> numbers{tensor<N>(1, false)...};
    std::apply([&](const auto &...number) { (set_bits(r, number), ...); },
               numbers);
    const int channels = nnc::transposed_channels(p.s);
    std::apply(
        [&](const auto &...number) {
          if (channels >= 0) {
            check_routine<nnc::elementwise_transposed_sm75<sizeof(X), shape, F>,
                          ARCH, F, Y>(r, unsigned(i), p, x, number...);
            ++transposed;
          }
          if (channels == 2)
            check_channels<2, ARCH, F, Y>(r, unsigned(i), p, x, number...);
          if (channels == 3)
            check_channels<3, ARCH, F, Y>(r, unsigned(i), p, x, number...);
          if (channels == 4)
            check_channels<4, ARCH, F, Y>(r, unsigned(i), p, x, number...);
        },
        numbers);
    few += channels > 0;
  }
  CHECK(transposed > count / 2);
  CHECK(few > count / 8);
}

} // namespace

TEST_CASE("elementwise on blocks, of floats") {
  check<75, scale_and_add, float, float, float, float>(90);
}
TEST_CASE("elementwise on blocks, of halves") {
  check<80, scale_and_add, nnc::f16, nnc::f16, nnc::f16, nnc::f16>(90);
}
TEST_CASE("elementwise on blocks, of bf16 and floats") {
  check<80, scale_and_add, nnc::bf16, nnc::bf16, nnc::bf16, float>(60);
  check<80, rectify, float, nnc::bf16>(40);
  check<75, rectify, nnc::bf16, float>(40);
}
TEST_CASE("elementwise on blocks, of halves and floats") {
  check<80, scale_and_add, nnc::f16, float, nnc::f16, float>(60);
  check<80, rectify, float, nnc::f16>(40);
}
TEST_CASE("elementwise on blocks, of integers") {
  check<75, dequantize, float, std::int8_t, float>(60);
  check<75, halve_sum, std::uint8_t, std::uint8_t, std::uint8_t>(60);
  check<75, is_less, bool, std::int64_t, std::int64_t>(60);
  check<75, pick, float, bool, float, std::int32_t>(60);
}
TEST_CASE("elementwise on blocks, from floats to transposed halves") {
  check_transposed<75, rectify, nnc::f16, float>(80);
}
TEST_CASE("elementwise on blocks, from floats to transposed bf16") {
  check_transposed<80, rectify, nnc::bf16, float>(60);
}
TEST_CASE("elementwise on blocks, from halves to transposed floats") {
  check_transposed<80, rectify, float, nnc::f16>(80);
}
TEST_CASE("elementwise on blocks, transposed and scaled by a number") {
  check_transposed<80, scale_of_number, float, float, float>(60);
  check_transposed<80, scale_of_number, nnc::f16, nnc::f16, float>(60);
}
TEST_CASE("an elementwise function on blocks of one element") {
  random_source r;
  problem p;
  p.s = {1, {1}, {{1}}, 1, 1};
  const tensor<float> x(1, true);
  set_bits(r, x);
  check_routine<nnc::elementwise_runs_sm75<4, shape, rectify>, 75, rectify,
                nnc::f16>(r, 1, p, x);
}
TEST_CASE("elementwise functions have a thread for each run") {
  const auto blocks = [](const shape &s) {
    return nnc::elementwise_runs<4, shape, rectify>::grid(s).x;
  };
  CHECK(blocks({1, {1024}, {{1}}, 1, 1}) == 1);
  CHECK(blocks({1, {1025}, {{1}}, 1, 1}) == 2);
  CHECK(blocks({2, {2, 512}, {{512, 1}}, 1, 1}) == 1);
  CHECK(blocks({2, {2, 257}, {{257, 1}}, 1, 1}) == 3); // no whole runs
}
