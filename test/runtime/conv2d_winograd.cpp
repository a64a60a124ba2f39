// Winograd's convolution, at every width and size of tile.
#include "runtime/routines/conv2d/winograd.h"
#include "test/runtime/conv2d_test.h"

using namespace nnc;
using namespace nnc_test;

namespace {

/// K x C x 3 x 3 as U = G w G^T, rounded once, in KRSC<W>k.
template <int M>
floats transform_weights(const floats &w, int k, int c, int width) {
  const winograd_matrices g = make_winograd(M, 3);
  const int n = g.points;
  floats u(std::size_t(blocks(k, width)) * n * n * c * width, 0.0f);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < c; ++j)
      for (int r = 0; r < n; ++r)
        for (int s = 0; s < n; ++s) {
          double sum = 0;
          for (int a = 0; a < 9; ++a)
            sum += g.filter[r][a / 3] * g.filter[s][a % 3] *
                   w[(std::size_t(i) * c + j) * 9 + a];
          u[(((std::size_t(i / width) * n + r) * n + s) * c + j) * width +
            i % width] = float(sum);
        }
  return u;
}

/// Sums of products in double precision.
std::vector<double> convolve(const conv2d_shape &s, const floats &x,
                             const floats &w) {
  std::vector<double> y(std::size_t(s.n) * s.k * s.oh * s.ow, 0.0);
  std::size_t at = 0;
  for (int n = 0; n < s.n; ++n)
    for (int k = 0; k < s.k; ++k)
      for (int i = 0; i < s.oh; ++i)
        for (int j = 0; j < s.ow; ++j, ++at)
          for (int tap = 0; tap < 9; ++tap) {
            const int row = i + tap / 3 - s.pt, col = j + tap % 3 - s.pl;
            if (row >= 0 && row < s.h && col >= 0 && col < s.w)
              for (int c = 0; c < s.c; ++c)
                y[at] +=
                    double(w[(std::size_t(k) * s.c + c) * 9 + tap]) *
                    x[((std::size_t(n) * s.c + c) * s.h + row) * s.w + col];
          }
  return y;
}

/// Errors are relative to what a sum of so many random products is, whatever
/// the sums at the image's edges are: a tile's rounding errors are those of its
/// largest values. The bounds on their root mean square are three times what
/// 64 channels have (winograd_matrices.h); the largest of a million is less
/// than 20 times as much.
template <int M>
constexpr double rms_bound = M == 2   ? 1e-6
                             : M == 4 ? 3e-6
                                      : 1e-5;

template <int W, int M, int P, int B, class S>
void check_winograd(random_source &random, const S &shape,
                    const conv2d_shape &s) {
  INFO("W=" << W << " M=" << M << to_string(s));
  using routine = conv2d_f32_nchwc_winograd_t<W, M, S, P, B, conv2d_epilogue>;
  const int out = s.oh * s.ow;
  const floats x = random.values(std::size_t(s.n) * s.c * s.h * s.w);
  const floats w = random.values(std::size_t(s.k) * s.c * 9);
  floats bias = random.values(s.k);
  const floats residual = random.values(std::size_t(s.n) * s.k * out);
  const std::vector<double> sums = convolve(s, x, w);

  const floats bx = block_channels(x, s.n, s.c, s.h * s.w, W);
  const floats u = transform_weights<M>(w, s.k, s.c, W);
  const floats bias_only = bias;
  bias.resize(std::size_t(blocks(s.k, W)) * W, 1.0f);
  floats by = block_channels(residual, s.n, s.k, out, W);
  const conv2d_epilogue epilogue{bias.data(), by.data()};
  const std::size_t bytes =
      winograd_scratch(s, W, M, P, B, most_scratch_threads);
  floats scratch = not_written(bytes / sizeof(float) + 1);
  scratch.back() = 42.0f;
  // In three parts, with the residual in the output's place.
  const int units = routine::units(shape);
  const int cuts[] = {0, units / 3, units / 3 * 2, units};
  for (int part : {1, 0, 2})
    if (cuts[part] < cuts[part + 1])
      routine::run(shape, bx.data(), u.data(), by.data(),
                   reinterpret_cast<unsigned char *>(scratch.data()), epilogue,
                   cuts[part], cuts[part + 1]);
  REQUIRE(scratch.back() == 42.0f);
  const floats got = unblock_channels(by, s.n, s.k, out, W);

  // Of 9 c products of two values between -1 and 1, 1/3 in mean square each.
  const double scale = std::sqrt(double(s.c));
  double squares = 0, most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want =
        std::max(sums[i] + bias_only[i / out % s.k] + residual[i], 0.0);
    const double error = std::fabs(got[i] - want) / scale;
    squares += error * error;
    most = error <= most ? most : error;
  }
  CHECK(std::sqrt(squares / got.size()) <= rms_bound<M>);
  REQUIRE(most <= 20 * rms_bound<M>);
}

template <int W, int P, int B, class S>
void check_all(random_source &random, const S &shape, const conv2d_shape &s) {
  check_winograd<W, 2, P, B>(random, shape, s);
  check_winograd<W, 4, P, B>(random, shape, s);
  check_winograd<W, 6, P, B>(random, shape, s);
}

conv2d_shape random_3x3(random_source &r, int side) {
  conv2d_shape s{};
  s.n = r.between(1, 2);
  s.c = r.between(1, 40);
  s.k = r.between(1, 70);
  s.h = r.between(1, side);
  s.w = r.between(1, side);
  s.kh = s.kw = 3;
  s.sh = s.sw = s.dh = s.dw = s.groups = 1;
  s.pt = r.between(s.h < 3, 2);
  s.pl = r.between(s.w < 3, 2);
  s.oh = larger(1, s.h + s.pt + r.between(0, 2) - 2);
  s.ow = larger(1, s.w + s.pl + r.between(0, 2) - 2);
  return s;
}

template <int N, int C, int H, int WIDTH, int K, int PAD>
struct constant_shape {
  static constexpr int n = N, c = C, h = H, w = WIDTH, k = K, kh = 3, kw = 3;
  static constexpr int sh = 1, sw = 1, dh = 1, dw = 1, pt = PAD, pl = PAD;
  static constexpr int oh = H + 2 * PAD - 2, ow = WIDTH + 2 * PAD - 2;
  static constexpr int groups = 1;
};

} // namespace

TEST_CASE("the matrices of Winograd's convolution are those of a product of "
          "polynomials",
          "[conv2d]") {
  // With B^T and A^T from winograd_transform, F(M, R) of single taps and inputs
  // is one where the tap meets the input, else zero.
  const auto check = [](auto transform, int taps) {
    using t = decltype(transform);
    constexpr int n = t::points;
    for (int tap = 0; tap < taps; ++tap)
      for (int i = 0; i < n; ++i) {
        float x[n] = {}, v[n];
        x[i] = 1;
        t::input(x, v);
        for (int p = 0; p < n; ++p)
          v[p] *= float(t::matrices.filter[p][tap]);
        float out[t::matrices.outputs];
        t::output(v, out);
        for (int o = 0; o < t::matrices.outputs; ++o)
          CHECK(out[o] == Approx(o + tap == i ? 1.0f : 0.0f).margin(1e-5));
      }
  };
  check(winograd_transform<2, 3>(), 3);
  check(winograd_transform<4, 3>(), 3);
  check(winograd_transform<6, 3>(), 3);
  check(winograd_transform<2, 5>(), 5);
  check(winograd_transform<2, 7>(), 7);
}

TEMPLATE_TEST_CASE_SIG("Winograd's convolution of random shapes", "[conv2d]",
                       ((int W), W), NNC_TEST_WIDTHS) {
  random_source random;
  for (int i = 0; i < 30; ++i) {
    const conv2d_shape s = random_3x3(random, 20);
    check_all<W, 6, 2>(random, s, s);
    check_all<W, 5, 1>(random, s, s);
  }
}

TEMPLATE_TEST_CASE_SIG("Winograd's convolution of constant shapes", "[conv2d]",
                       ((int W), W), NNC_TEST_WIDTHS) {
  random_source random;
  const auto check = [&](auto shape) {
    check_all<W, 6, 2>(random, shape, run_time_shape<decltype(shape)>());
  };
  // Whole tiles, tiles over the edges, channels that do not fill their blocks.
  check(constant_shape<1, 32, 12, 12, 32, 1>());
  check(constant_shape<2, 20, 9, 13, 40, 1>());
  check(constant_shape<1, 16, 7, 7, 33, 0>());
  check(constant_shape<1, 8, 5, 1, 16, 1>());
  // More than one strip.
  check(constant_shape<1, 130, 45, 41, 24, 1>());
}
