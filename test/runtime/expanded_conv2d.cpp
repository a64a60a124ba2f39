// Tests expanded convolution, row by row with vectors of every kind and in the
// portable routine, against sums in double.
#include "runtime/routines/convolution/expanded_conv2d/portable.h"
#include "runtime/routines/convolution/expanded_conv2d/rows.h"
#include "runtime/routines/convolution/expanded_conv2d/shape.h"
#include "test/runtime/check.h"
#include "test/runtime/conv_pair.h"
#include "test/runtime/expected.h"
#include "test/runtime/random_shapes.h"

#include <limits>
#include <type_traits>

using namespace nnc;
using namespace nnc_test;

namespace {

template <class T>
using epilogue_of = fused<bias_residual_relu, channel_of<float>, full_of<T>>;
using epilogue = epilogue_of<float>;

/// Random row-major operands with values that T can hold, the expected results,
/// and their largest allowed errors.
template <class T> struct problem {
  expanded_conv2d_shape s;
  floats x, v, middle_bias, w, bias, residual;
  std::vector<double> want, bound;

  problem(random_source &r, const expanded_conv2d_shape &shape)
      : s(shape), x(values(r, std::size_t(s.n) * s.c * s.h * s.w)),
        v(values(r, std::size_t(s.k) * s.c)), middle_bias(values(r, s.k)),
        w(values(r, std::size_t(s.k) * s.kh * s.kw)), bias(r.values(s.k)),
        residual(values(r, std::size_t(s.n) * s.k * s.oh * s.ow)) {
    const double epsilon = std::numeric_limits<float>::epsilon();
    const double factor =
        std::is_same<T, float>::value
            ? 8 * std::sqrt(double(s.c) * s.kh * s.kw) * epsilon
            : 0x1p-8; // sums of halves are made in parts
    const std::size_t pixels = std::size_t(s.oh) * s.ow;
    for (std::size_t i = 0; i < residual.size(); ++i) {
      const int plane = static_cast<int>(i / pixels), k = plane % s.k;
      const int top = static_cast<int>(i % pixels / s.ow) * s.sh - s.pt;
      const int left = static_cast<int>(i % s.ow) * s.sw - s.pl;
      double sum = double(residual[i]) + bias[k], size = 1;
      for (int a = 0; a < s.kh; ++a)
        for (int b = 0; b < s.kw; ++b) {
          const int y = top + a * s.dh, at = left + b * s.dw;
          if (y < 0 || y >= s.h || at < 0 || at >= s.w)
            continue;
          const auto [value, magnitude] = pointwise(plane / s.k, k, y, at);
          const double tap = w[(std::size_t(k) * s.kh + a) * s.kw + b];
          sum += tap * activated(s, value);
          size += std::fabs(tap) * magnitude;
        }
      want.push_back(std::max(sum, 0.0));
      bound.push_back(factor * size);
    }
  }

private:
  static floats values(random_source &r, std::size_t count) {
    return rounded<T>(r.values(count));
  }
  /// Returns the sum of a pixel between the convolutions, and the sum of the
  /// magnitudes of its terms.
  std::pair<double, double> pointwise(int image, int k, int y, int at) const {
    double sum = middle_bias[k], size = std::fabs(sum);
    for (int c = 0; c < s.c; ++c) {
      const double product =
          double(x[((std::size_t(image) * s.c + c) * s.h + y) * s.w + at]) *
          v[std::size_t(k) * s.c + c];
      sum += product;
      size += std::fabs(product);
    }
    return {sum, size};
  }
};

void check_portable(const problem<float> &p) {
  using routine = expanded_conv2d_f32_portable<expanded_conv2d_shape, epilogue>;
  floats y = p.residual;
  floats scratch = not_written(std::size_t(p.s.n) * p.s.k * p.s.h * p.s.w);
  routine::run(p.s, p.x.data(), p.v.data(), p.middle_bias.data(), p.w.data(),
               y.data(), reinterpret_cast<unsigned char *>(scratch.data()),
               epilogue{p.bias.data(), y.data()}, 0, routine::units(p.s));
  require_within(y, p.want, p.bound);
}

/// Runs the routine in three parts, with the residual in the output's memory,
/// and checks the results. Padded lanes of both biases are not zero, so that a
/// routine that does not clear them in the result fails.
template <class V, int COLS, int OC, class S, class T>
void check_rows(const S &shape, const problem<T> &p) {
  using E = epilogue_of<T>;
  using routine = expanded_conv2d_nchwc_t<V, S, COLS, OC, E>;
  constexpr int W = lanes<V>;
  const expanded_conv2d_shape &s = p.s;
  INFO("W=" << W << " blocks=" << OC << describe(s));
  const auto x = store_all<T>(block_channels(p.x, s.n, s.c, s.h * s.w, W));
  const auto v = store_all<T>(block_weights(p.v, 1, s.k, s.c, 1, W, W));
  const auto middle =
      store_all<T>(block_channels(p.middle_bias, 1, s.k, 1, W, 1.0f));
  const auto w = store_all<T>(block_weights(p.w, 1, s.k, 1, s.kh * s.kw, 1, W));
  const floats bias = block_channels(p.bias, 1, s.k, 1, W, 1.0f);
  auto y = store_all<T>(block_channels(p.residual, s.n, s.k, s.oh * s.ow, W));
  const std::ptrdiff_t bytes = plan_expanded(s, W, OC).thread_scratch();
  floats scratch = not_written(bytes / sizeof(float) + 1);
  scratch.back() = 42.0f;
  in_parts(routine::units(shape), [&](int begin, int end) {
    routine::run(shape, x.data(), v.data(), middle.data(), w.data(), y.data(),
                 reinterpret_cast<unsigned char *>(scratch.data()),
                 E{bias.data(), y.data()}, begin, end);
  });
  REQUIRE(scratch.back() == 42.0f);
  require_within(unblock_channels(load_all(y), s.n, s.k, s.oh * s.ow, W),
                 p.want, p.bound);
}

template <class V, int COLS, int OC, class S>
void check_constant(random_source &r) {
  const problem<element_of<V>> p(r, fields_of<expanded_conv2d_shape, S>());
  check_rows<V, COLS, OC>(S{}, p);
}
/// Checks the shape S as a run-time shape, with a tile for which the routine is
/// compiled for random shapes anyway.
template <class V, int COLS, int OC, class S>
void check_at_run_time(random_source &r) {
  const problem<element_of<V>> p(r, fields_of<expanded_conv2d_shape, S>());
  check_rows<V, COLS, OC>(p.s, p);
}

} // namespace

TEST_CASE("portable expanded convolution", "[expanded_conv2d]") {
  random_source r;
  for (int i = 0; i < 50; ++i)
    check_portable(problem<float>(r, random_pair<expanded_conv2d_shape>(r)));
}

TEMPLATE_TEST_CASE("expanded convolution of random shapes", "[expanded_conv2d]",
                   NNC_TEST_TILES) {
  using V = TestType;
  random_source r;
  for (int i = 0; i < 40; ++i) {
    const problem<element_of<V>> p(r, random_pair<expanded_conv2d_shape>(r));
    check_rows<V, 6, 2>(p.s, p);
    check_rows<V, 5, 1>(p.s, p);
  }
}

TEMPLATE_TEST_CASE("expanded convolution of constant shapes",
                   "[expanded_conv2d]", NNC_TEST_TILES) {
  using V = TestType;
  random_source r;
  check_constant<V, 6, 2, constant_pair<1, 16, 16, 16, 24, 3, 1, 2>>(r);
  check_constant<V, 6, 2, constant_pair<2, 20, 15, 17, 33, 3, 2, 1>>(r);
  check_at_run_time<V, 6, 2, constant_pair<1, 17, 13, 11, 7, 5, 1, 3>>(r);
  check_constant<V, 4, 3, constant_pair<3, 16, 9, 10, 64, 7, 1, 4>>(r);
  check_at_run_time<V, 6, 2, constant_pair<1, 9, 7, 7, 48, 5, 2, 0>>(r);
  // Sums in parts, of halves and of floats.
  check_constant<V, 6, 2, constant_pair<1, 150, 5, 6, 20, 3, 1, 1>>(r);
  check_at_run_time<V, 5, 1, constant_pair<1, 1100, 4, 5, 9, 3, 1, 0>>(r);
  // Rows that no output reads.
  check_at_run_time<V, 5, 1, constant_pair<1, 8, 20, 9, 8, 1, 3, 1>>(r);
}
