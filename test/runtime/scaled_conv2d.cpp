// Tests 1 x 1 convolution of a scaled input against sums in double: with and
// without Strassen's method, with vectors of every kind and in the portable
// routine.
#include "runtime/routines/catalogue/expressions.h"
#include "runtime/routines/convolution/scaled_conv2d/portable.h"
#include "runtime/routines/convolution/scaled_conv2d/products.h"
#include "runtime/routines/convolution/scaled_conv2d/shape.h"
#include "test/runtime/check.h"
#include "test/runtime/expected.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/transformed_weights.h"

#include <limits>

using namespace nnc;
using namespace nnc_test;

namespace {

template <class T>
using epilogue_of = fused<bias_residual_relu, channel_of<float>, full_of<T>>;
using epilogue = epilogue_of<float>;

/// Random row-major operands with values that T can hold, the expected results,
/// and their largest allowed errors, which include the rounding of the scaled
/// values.
template <class T = float> struct problem {
  scaled_conv2d_shape s;
  int pixels = s.h * s.w;
  floats x, scale, middle_bias, v, bias, residual;
  std::vector<double> want, bound;

  problem(random_source &r, const scaled_conv2d_shape &shape)
      : s(shape), x(rounded<T>(r.values(std::size_t(s.n) * s.c * pixels))),
        scale(r.values(s.c)), middle_bias(r.values(s.c)),
        v(rounded<T>(r.values(std::size_t(s.k) * s.c))), bias(r.values(s.k)),
        residual(rounded<T>(r.values(std::size_t(s.n) * s.k * pixels))) {
    const double epsilon = std::numeric_limits<float>::epsilon();
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const std::size_t image = i / pixels / s.k, k = i / pixels % s.k;
      double sum = double(residual[i]) + bias[k], size = 0;
      for (int c = 0; c < s.c; ++c) {
        const double product =
            double(x[(image * s.c + c) * pixels + i % pixels]) * scale[c];
        const double weight = v[k * s.c + c];
        sum += weight * activated(s, product + middle_bias[c]);
        size += std::fabs(weight) *
                (std::fabs(product) + std::fabs(middle_bias[c]));
      }
      want.push_back(std::max(sum, 0.0));
      bound.push_back(error_bound<T>(float(s.c), float(size)) +
                      4 * epsilon * size);
    }
  }
};

void check_portable(const problem<> &p) {
  using routine = scaled_conv2d_f32_portable<scaled_conv2d_shape, epilogue>;
  floats y = p.residual;
  in_parts(routine::units(p.s), [&](int begin, int end) {
    routine::run(p.s, p.x.data(), p.scale.data(), p.middle_bias.data(),
                 p.v.data(), y.data(), epilogue{p.bias.data(), y.data()}, begin,
                 end);
  });
  require_within(y, p.want, p.bound);
}

/// Runs the routine as several threads do, with the residual in the output's
/// memory, and checks the results. Padded lanes of scale and biases are not
/// zero, so that a routine that does not clear them in the result fails.
template <class V, int L, int P, int B, class S>
void check_products(const S &shape, const problem<element_of<V>> &p) {
  constexpr int W = lanes<V>;
  using T = element_of<V>;
  using routine = scaled_conv2d_nchwc_t<V, S, L, P, B, epilogue_of<T>>;
  const scaled_conv2d_shape &s = p.s;
  INFO("W=" << W << " levels=" << L << describe(s));
  REQUIRE(scaled_conv2d_applies(s, L, W));
  const auto x = store_all<T>(block_channels(p.x, s.n, s.c, p.pixels, W));
  const floats scale = block_channels(p.scale, 1, s.c, 1, W, 1.0f);
  const floats middle = block_channels(p.middle_bias, 1, s.c, 1, W, 1.0f);
  // Without levels there is one right factor, of whole blocks.
  floats v = p.v;
  v.resize(std::size_t(blocks(s.k, W)) * W * s.c);
  const auto u = store_all<T>(
      strassen_weights(v, L ? s.k : blocks(s.k, W) * W, s.c, s.c, 1, L, W));
  const floats bias = block_channels(p.bias, 1, s.k, 1, W, 1.0f);
  auto y = store_all<T>(block_channels(p.residual, s.n, s.k, p.pixels, W));
  const int threads = 1 + int(p.x.size() % 20);
  const std::size_t bytes = plan_scaled_conv2d(s, L, W, P, B, sizeof(T))
                                .shared(threads)
                                .thread_scratch();
  floats scratch = not_written(bytes / sizeof(float) + 1);
  scratch.back() = 42.0f;
  in_parts(routine::units(shape, threads), [&](int begin, int end) {
    routine::run(shape, x.data(), scale.data(), middle.data(), u.data(),
                 y.data(), reinterpret_cast<unsigned char *>(scratch.data()),
                 epilogue_of<T>{bias.data(), y.data()}, begin, end, threads);
  });
  REQUIRE(scratch.back() == 42.0f);
  std::vector<double> bound = p.bound;
  for (double &one : bound)
    one += strassen_bound<T>(L, s.c);
  require_within(unblock_channels(load_all(y), s.n, s.k, p.pixels, W), p.want,
                 bound);
}

/// Returns a random shape whose numbers of channels are multiples of `part`.
scaled_conv2d_shape random_scaled(random_source &r, int part) {
  const int c = r.between(1, 6) * part, k = r.between(1, 4) * part;
  return {r.between(1, 3), c,   r.between(1, 9),
          r.between(1, 9), k,   r.between(0, 4),
          -0.5f,           1.0f};
}

template <int N, int C, int H, int WIDTH, int K, int ACTIVATION>
struct constant_shape {
  static constexpr int n = N, c = C, h = H, w = WIDTH, k = K;
  static constexpr int activation = ACTIVATION;
  static constexpr float low = 0.0f, high = 6.0f;
};

template <class T, class S> problem<T> problem_of(random_source &r) {
  return {r, {S::n, S::c, S::h, S::w, S::k, S::activation, S::low, S::high}};
}
template <class V, int L, int P, int B, class S>
void check_constant(random_source &r) {
  if constexpr (has_levels<V, L>)
    check_products<V, L, P, B>(S{}, problem_of<element_of<V>, S>(r));
}
/// Checks the shape S as a run-time shape, with a tile for which the routine is
/// compiled for random shapes anyway.
template <class V, int L, class S> void check_at_run_time(random_source &r) {
  if constexpr (has_levels<V, L>) {
    const problem<element_of<V>> p = problem_of<element_of<V>, S>(r);
    check_products<V, L, 5, 2>(p.s, p);
  }
}

} // namespace

TEST_CASE("portable convolution of a scaled input", "[scaled_conv2d]") {
  random_source r;
  for (int i = 0; i < 50; ++i)
    check_portable(problem<>(r, random_scaled(r, r.between(1, 9))));
}

TEMPLATE_TEST_CASE("convolution of a scaled input of random shapes",
                   "[scaled_conv2d]", NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>;
  random_source r;
  for (int i = 0; i < 30; ++i) {
    const problem<element_of<V>> any(r, random_scaled(r, r.between(1, 2 * W)));
    check_products<V, 0, 5, 2>(any.s, any);
    const problem<element_of<V>> even(r, random_scaled(r, 2 * W));
    check_products<V, 1, 5, 2>(even.s, even);
    check_products<V, 1, 4, 3>(even.s, even);
    const problem<element_of<V>> quarters(r, random_scaled(r, 4 * W));
    if constexpr (has_levels<V, 2>)
      check_products<V, 2, 5, 2>(quarters.s, quarters);
  }
}

TEMPLATE_TEST_CASE("convolution of a scaled input of constant shapes",
                   "[scaled_conv2d]", NNC_TEST_TILES) {
  using V = TestType;
  constexpr int W = lanes<V>;
  random_source r;
  check_constant<V, 0, 6, 2, constant_shape<1, 3 * W + 1, 7, 7, W + 3, 1>>(r);
  check_at_run_time<V, 0, constant_shape<2, W, 1, 1, 5, 0>>(r);
  check_constant<V, 1, 6, 2, constant_shape<1, 4 * W, 7, 7, 6 * W, 1>>(r);
  check_at_run_time<V, 1, constant_shape<2, 2 * W, 1, 1, 2 * W, 3>>(r);
  check_constant<V, 2, 6, 2, constant_shape<1, 8 * W, 7, 7, 12 * W, 2>>(r);
  // More than one strip, and sums of several parts.
  check_constant<V, 0, 6, 2, constant_shape<1, 600, 16, 30, 2 * W, 1>>(r);
  check_at_run_time<V, 1, constant_shape<1, 512, 31, 30, 2 * W, 1>>(r);
  check_at_run_time<V, 2, constant_shape<1, 512, 31, 30, 4 * W, 1>>(r);
}
