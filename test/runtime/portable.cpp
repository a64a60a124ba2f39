// Tests every portable routine against its definition, written out in double.
#include "runtime/routines/moves/adapt/portable.h"
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/conv_transpose2d/portable.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/moves/copy/portable.h"
#include "runtime/routines/moves/gather/portable.h"
#include "runtime/routines/moves/pad/portable.h"
#include "runtime/routines/normalization/layer_norm/portable.h"
#include "runtime/routines/normalization/softmax/portable.h"
#include "runtime/routines/ordering/argmax/portable.h"
#include "runtime/routines/pooling/pool2d/portable.h"
#include "runtime/routines/reduction/reduce/portable.h"
#include "runtime/routines/resampling/resize/portable.h"
#include "test/runtime/check.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 generator(1);

int between(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(generator);
}

template <class T = float> std::vector<T> random_values(std::size_t count) {
  std::uniform_real_distribution<double> values(-1.0, 1.0);
  std::vector<T> v(count);
  for (T &x : v)
    x = static_cast<T>(values(generator));
  return v;
}

/// The exact sum of `terms` products, and the bound 4 sqrt(terms) eps sum |a b|
/// of a float's error.
struct exact_sum {
  double sum = 0, size = 0;
  int terms = 0;
  void add(double a, double b) {
    sum += a * b;
    size += std::fabs(a * b);
    ++terms;
  }
  bool matches(float v) const {
    return std::fabs(v - sum) <= 4 * std::sqrt(double(terms)) * 6e-8 * size;
  }
};

/// Runs all units in two uneven parts, like two threads.
template <class R, class S, class... A> void run(const S &s, A... args) {
  const int middle = R::units(s) / 3;
  R::run(s, args..., none{}, middle, R::units(s));
  R::run(s, args..., none{}, 0, middle);
}

conv2d_shape random_conv() {
  conv2d_shape s{};
  s.n = between(1, 2);
  s.groups = between(1, 3);
  s.c = s.groups * between(1, 3);
  s.k = s.groups * between(1, 3);
  s.kh = between(1, 4), s.kw = between(1, 4);
  s.sh = between(1, 3), s.sw = between(1, 3);
  s.dh = between(1, 2), s.dw = between(1, 3);
  s.pt = between(0, 3), s.pl = between(0, 3);
  s.h = between(1, 9) + (s.kh - 1) * s.dh;
  s.w = between(1, 80) + (s.kw - 1) * s.dw;
  s.oh = (s.h + s.pt + between(0, 2) - (s.kh - 1) * s.dh - 1) / s.sh + 1;
  s.ow = (s.w + s.pl + between(0, 2) - (s.kw - 1) * s.dw - 1) / s.sw + 1;
  return s;
}

} // namespace

TEST_CASE("conv2d computes the definition of convolution") {
  for (int round = 0; round < 60; ++round) {
    const conv2d_shape s = random_conv();
    const int cg = s.c / s.groups, kg = s.k / s.groups;
    const auto x = random_values(std::size_t(s.n) * s.c * s.h * s.w);
    const auto w = random_values(std::size_t(s.k) * cg * s.kh * s.kw);
    std::vector<float> y(std::size_t(s.n) * s.k * s.oh * s.ow, NAN);
    run<conv2d_f32_portable<conv2d_shape, none>>(s, x.data(), w.data(),
                                                 y.data());
    bool good = true;
    for (int n = 0; n < s.n; ++n)
      for (int k = 0; k < s.k; ++k)
        for (int oy = 0; oy < s.oh; ++oy)
          for (int ox = 0; ox < s.ow; ++ox) {
            exact_sum sum;
            for (int c = 0; c < cg; ++c)
              for (int i = 0; i < s.kh; ++i)
                for (int j = 0; j < s.kw; ++j) {
                  const int iy = oy * s.sh - s.pt + i * s.dh;
                  const int ix = ox * s.sw - s.pl + j * s.dw;
                  if (iy >= 0 && iy < s.h && ix >= 0 && ix < s.w)
                    sum.add(
                        x[((n * s.c + k / kg * cg + c) * s.h + iy) * s.w + ix],
                        w[((k * cg + c) * s.kh + i) * s.kw + j]);
                }
            good =
                good && sum.matches(y[((n * s.k + k) * s.oh + oy) * s.ow + ox]);
          }
    REQUIRE(good);
  }
}

TEST_CASE("conv_transpose2d scatters what conv2d gathers") {
  for (int round = 0; round < 60; ++round) {
    conv_transpose2d_shape s{};
    s.n = between(1, 2), s.groups = between(1, 2);
    s.c = s.groups * between(1, 3), s.k = s.groups * between(1, 3);
    s.h = between(1, 6), s.w = between(1, 50);
    s.kh = between(1, 4), s.kw = between(1, 4);
    s.sh = between(1, 3), s.sw = between(1, 3);
    s.dh = between(1, 2), s.dw = between(1, 2);
    s.pt = between(0, s.kh - 1), s.pl = between(0, s.kw - 1);
    s.oh = std::max(1, (s.h - 1) * s.sh + (s.kh - 1) * s.dh + 1 - s.pt);
    s.ow = std::max(1, (s.w - 1) * s.sw + (s.kw - 1) * s.dw + 1 - s.pl);
    const int kg = s.k / s.groups, cg = s.c / s.groups;
    const auto x = random_values(std::size_t(s.n) * s.c * s.h * s.w);
    const auto w = random_values(std::size_t(s.c) * kg * s.kh * s.kw);
    std::vector<float> y(std::size_t(s.n) * s.k * s.oh * s.ow, NAN);
    std::vector<exact_sum> expected(y.size());
    for (int n = 0; n < s.n; ++n)
      for (int c = 0; c < s.c; ++c)
        for (int p = 0; p < s.h * s.w; ++p)
          for (int q = 0; q < kg * s.kh * s.kw; ++q) {
            const int j = q % s.kw, i = q / s.kw % s.kh, k = q / s.kw / s.kh;
            const int oy = p / s.w * s.sh - s.pt + i * s.dh;
            const int ox = p % s.w * s.sw - s.pl + j * s.dw;
            if (oy >= 0 && oy < s.oh && ox >= 0 && ox < s.ow)
              expected[((n * s.k + c / cg * kg + k) * s.oh + oy) * s.ow + ox]
                  .add(x[(n * s.c + c) * s.h * s.w + p],
                       w[c * kg * s.kh * s.kw + q]);
          }
    run<conv_transpose2d_f32_portable<conv_transpose2d_shape, none>>(
        s, x.data(), w.data(), y.data());
    bool good = true;
    for (std::size_t i = 0; i < y.size(); ++i)
      good = good && expected[i].matches(y[i]);
    REQUIRE(good);
  }
}

TEST_CASE("pooling takes the largest and the mean of each window") {
  for (int round = 0; round < 80; ++round) {
    const conv2d_shape c = random_conv();
    pool2d_shape s{c.n,  c.c,  c.h,  c.w, c.kh, c.kw, c.sh, c.sw,         c.dh,
                   c.dw, c.pt, c.pl, 0,   0,    c.oh, c.ow, between(0, 1)};
    s.pt = std::min(s.pt, s.kh - 1), s.pl = std::min(s.pl, s.kw - 1);
    s.pb = between(0, s.kh - 1), s.pr = between(0, s.kw - 1);
    s.oh = (s.h + s.pt + s.pb - (s.kh - 1) * s.dh - 1) / s.sh + 1;
    s.ow = (s.w + s.pl + s.pr - (s.kw - 1) * s.dw - 1) / s.sw + 1;
    const auto x = random_values(std::size_t(s.n) * s.c * s.h * s.w);
    std::vector<float> top(std::size_t(s.n) * s.c * s.oh * s.ow, NAN);
    std::vector<float> mean = top;
    run<max_pool2d_portable<pool2d_shape, none>>(s, x.data(), top.data());
    run<avg_pool2d_f32_portable<pool2d_shape, none>>(s, x.data(), mean.data());
    bool good = true;
    for (int at = 0; at < int(top.size()); ++at) {
      const int ox = at % s.ow, oy = at / s.ow % s.oh, plane = at / s.ow / s.oh;
      double largest = -10, sum = 0;
      int count = 0;
      for (int i = 0; i < s.kh; ++i)
        for (int j = 0; j < s.kw; ++j) {
          const int iy = oy * s.sh - s.pt + i * s.dh;
          const int ix = ox * s.sw - s.pl + j * s.dw;
          const bool inside = iy >= 0 && iy < s.h && ix >= 0 && ix < s.w;
          count += inside ||
                   (s.count_include_pad && iy < s.h + s.pb && ix < s.w + s.pr);
          if (inside) {
            const double v = x[(plane * s.h + iy) * s.w + ix];
            largest = std::max(largest, v);
            sum += v;
          }
        }
      if (largest == -10)
        continue; // a window of padding alone: no model means that
      good = good && top[at] == float(largest) &&
             mean[at] == Approx(sum / count).margin(1e-6);
    }
    REQUIRE(good);
  }
}

/// Returns true if the results of a routine in float and in double differ by no
/// more than the rounding errors of sums of `terms` products.
static bool agree(const std::vector<float> &floats,
                  const std::vector<double> &doubles, double terms) {
  bool good = true;
  for (std::size_t i = 0; i < floats.size(); ++i)
    good = good &&
           std::fabs(doubles[i] - double(floats[i])) <= 1e-7 * terms * terms;
  return good;
}

TEST_CASE("convolutions and mean pools compute with doubles") {
  for (int round = 0; round < 20; ++round) {
    conv2d_shape s = random_conv();
    const auto x = random_values(std::size_t(s.n) * s.c * s.h * s.w);
    const auto w =
        random_values(std::size_t(s.k) * (s.c / s.groups) * s.kh * s.kw);
    const std::vector<double> wide(x.begin(), x.end()),
        taps(w.begin(), w.end());
    const double terms = 4.0 + s.kh * s.kw * (s.c / s.groups);
    std::vector<float> y(std::size_t(s.n) * s.k * s.oh * s.ow, NAN);
    std::vector<double> z(y.size(), NAN);
    run<conv2d_f32_portable<conv2d_shape, none>>(s, x.data(), w.data(),
                                                 y.data());
    run<conv2d_f64_portable<conv2d_shape, none>>(s, wide.data(), taps.data(),
                                                 z.data());
    CHECK(agree(y, z, terms));

    pool2d_shape p{s.n,  s.c,  s.h,  s.w, s.kh, s.kw, s.sh, s.sw, s.dh,
                   s.dw, s.pt, s.pl, 0,   0,    s.oh, s.ow, 1};
    y.assign(std::size_t(s.n) * s.c * s.oh * s.ow, NAN);
    z.assign(y.size(), NAN);
    run<avg_pool2d_f32_portable<pool2d_shape, none>>(p, x.data(), y.data());
    run<avg_pool2d_f64_portable<pool2d_shape, none>>(p, wide.data(), z.data());
    CHECK(agree(y, z, terms));
  }
}

TEST_CASE("max_pool2d takes bytes and passes NaN on") {
  const pool2d_shape s{1, 1, 1, 3, 1, 3, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0};
  const std::int8_t bytes[] = {-5, -3, -9};
  std::int8_t byte = 0;
  run<max_pool2d_portable<pool2d_shape, none>>(s, bytes, &byte);
  CHECK(byte == -3);
  const float values[] = {1.0f, NAN, 2.0f};
  float value = 0;
  run<max_pool2d_portable<pool2d_shape, none>>(s, values, &value);
  CHECK(std::isnan(value));
}

TEST_CASE("matmul multiplies in every orientation") {
  for (int round = 0; round < 80; ++round) {
    matmul_shape s{
        between(1, 3), between(1, 9), between(1, 150), between(1, 40), 0, 0,
        between(0, 1), between(0, 1)};
    s.a_batch_stride = between(0, 1) * s.m * s.k;
    s.b_batch_stride = between(0, 1) * s.n * s.k;
    const auto a = random_values(std::size_t(s.batch) * s.m * s.k);
    const auto b = random_values(std::size_t(s.batch) * s.n * s.k);
    std::vector<float> y(std::size_t(s.batch) * s.m * s.n, NAN);
    run<matmul_portable<matmul_shape, none>>(s, a.data(), b.data(), y.data());
    bool good = true;
    for (int at = 0; at < int(y.size()); ++at) {
      const int n = at % s.n, m = at / s.n % s.m, i = at / s.n / s.m;
      exact_sum sum;
      for (int k = 0; k < s.k; ++k)
        sum.add(a[i * s.a_batch_stride +
                  (s.transpose_a ? k * s.m + m : m * s.k + k)],
                b[i * s.b_batch_stride +
                  (s.transpose_b ? n * s.k + k : k * s.n + n)]);
      good = good && sum.matches(y[at]);
    }
    REQUIRE(good);
  }
}

TEST_CASE("softmax, layer_norm and reductions along a run") {
  for (int round = 0; round < 60; ++round) {
    const int outer = between(1, 4), size = between(1, 300),
              inner = between(1, 4);
    auto x = random_values(std::size_t(outer) * size * inner);
    for (float &v : x)
      v *= 20.0f;
    std::vector<float> soft(x.size()), log_soft(x.size());
    const softmax_shape plain{outer, size, inner, 0},
        log{outer, size, inner, 1};
    run<softmax_portable<softmax_shape, none>>(plain, x.data(), soft.data());
    run<softmax_portable<softmax_shape, none>>(log, x.data(), log_soft.data());
    const reduce_shape r{outer, size, inner};
    std::vector<float> sum(outer * inner), mean = sum, top = sum, low = sum,
                                           l1 = sum, l2 = sum, lse = sum;
    run<reduce_sum_portable<reduce_shape, none>>(r, x.data(), sum.data());
    run<reduce_mean_portable<reduce_shape, none>>(r, x.data(), mean.data());
    run<reduce_max_portable<reduce_shape, none>>(r, x.data(), top.data());
    run<reduce_min_portable<reduce_shape, none>>(r, x.data(), low.data());
    run<reduce_l1_portable<reduce_shape, none>>(r, x.data(), l1.data());
    run<reduce_l2_portable<reduce_shape, none>>(r, x.data(), l2.data());
    run<reduce_log_sum_exp_portable<reduce_shape, none>>(r, x.data(),
                                                         lse.data());
    std::vector<std::int64_t> first(sum.size()), last(sum.size());
    const argmax_shape a{outer, size, inner, 0}, b{outer, size, inner, 1};
    for (int i = 0; i < int(x.size()); i += 3)
      x[i] = std::round(x[i] / 10); // ties
    run<argmax_portable<argmax_shape, none>>(a, x.data(), first.data());
    run<argmin_portable<argmax_shape, none>>(b, x.data(), last.data());
    bool good = true;
    for (int o = 0; o < outer; ++o)
      for (int j = 0; j < inner; ++j) {
        auto at = [&](int i) { return (o * size + i) * inner + j; };
        int largest = 0, smallest = 0;
        for (int i = 1; i < size; ++i) {
          largest = x[at(i)] > x[at(largest)] ? i : largest;
          smallest = x[at(i)] <= x[at(smallest)] ? i : smallest;
        }
        good = good && first[o * inner + j] == largest &&
               last[o * inner + j] == smallest;
      }
    REQUIRE(good);
  }
  // Sums against doubles, on values that the loop above leaves alone.
  const auto x = random_values(6 * 1000);
  std::vector<float> sum(6), square(6), product(6);
  const reduce_shape r{2, 1000, 3};
  run<reduce_sum_portable<reduce_shape, none>>(r, x.data(), sum.data());
  run<reduce_sum_square_portable<reduce_shape, none>>(r, x.data(),
                                                      square.data());
  std::vector<float> soft(x.size()), lse(6);
  run<softmax_portable<softmax_shape, none>>(softmax_shape{2, 1000, 3, 0},
                                             x.data(), soft.data());
  run<reduce_log_sum_exp_portable<reduce_shape, none>>(r, x.data(), lse.data());
  for (int u = 0; u < 6; ++u) {
    exact_sum plain, squares;
    double exps = 0;
    for (int i = 0; i < 1000; ++i) {
      const float v = x[(u / 3 * 1000 + i) * 3 + u % 3];
      plain.add(v, 1);
      squares.add(v, v);
      exps += std::exp(double(v));
    }
    CHECK(plain.matches(sum[u]));
    CHECK(squares.matches(square[u]));
    CHECK(lse[u] == Approx(std::log(exps)).epsilon(1e-6));
    const int at = (u / 3 * 1000 + 7) * 3 + u % 3;
    CHECK(soft[at] == Approx(std::exp(double(x[at])) / exps).epsilon(1e-5));
  }
}

TEST_CASE("layer_norm has zero mean and unit variance before scale and bias") {
  const layer_norm_shape s{3, 77, 1e-5f};
  auto x = random_values(3 * 77);
  for (float &v : x)
    v += 100.0f; // a mean far from zero must not cancel the variance
  const auto scale = random_values(77), bias = random_values(77);
  std::vector<float> y(x.size());
  run<layer_norm_portable<layer_norm_shape, none>>(s, x.data(), scale.data(),
                                                   bias.data(), y.data());
  for (int o = 0; o < 3; ++o) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 77; ++i)
      mean += x[o * 77 + i] / 77.0;
    for (int i = 0; i < 77; ++i)
      variance += (x[o * 77 + i] - mean) * (x[o * 77 + i] - mean) / 77;
    for (int i = 0; i < 77; ++i)
      CHECK(y[o * 77 + i] == Approx((x[o * 77 + i] - mean) /
                                        std::sqrt(variance + 1e-5) * scale[i] +
                                    bias[i])
                                 .margin(1e-4));
  }
}

TEST_CASE("copy transposes, pad mirrors, gather picks, adapt blocks") {
  const auto x = random_values(2 * 3 * 5);
  std::vector<float> y(x.size());
  const copy_shape transpose{3, {5, 2, 3}, {1, 15, 5}, {6, 3, 1}, 0, 0};
  run<copy_portable<copy_shape, none>>(transpose, x.data(), y.data());
  for (int i = 0; i < 30; ++i)
    CHECK(y[i] == x[i / 3 % 2 * 15 + i % 3 * 5 + i / 6]);

  const int row[] = {1, 2, 3};
  int padded[9];
  const int expected[4][9] = {{7, 7, 7, 1, 2, 3, 7, 7, 7},
                              {2, 3, 2, 1, 2, 3, 2, 1, 2},
                              {1, 1, 1, 1, 2, 3, 3, 3, 3},
                              {1, 2, 3, 1, 2, 3, 1, 2, 3}};
  for (int mode = 0; mode < 4; ++mode) {
    const pad_shape s{2, {1, 9}, {1, 3}, {0, 3}, mode, 7.0f};
    run<pad_portable<pad_shape, none>>(s, row, padded);
    for (int i = 0; i < 9; ++i)
      CHECK(padded[i] == expected[mode][i]);
  }

  const std::int64_t indices[] = {2, -1, 0, 99};
  float picked[2 * 4 * 5];
  const gather_shape g{2, 3, 5, 4};
  run<gather_portable<gather_shape, none>>(g, x.data(), indices, picked);
  const int rows[] = {2, 2, 0, 2};
  for (int i = 0; i < 40; ++i)
    CHECK(picked[i] == x[i / 20 * 15 + rows[i / 5 % 4] * 5 + i % 5]);

  for (int block : {1, 4, 8}) {
    const adapt_shape in{1, 6, 1, 5, 1, block}, out{1, 6, 1, 5, block, 1};
    std::vector<float> blocked((6 + block - 1) / block * block * 5, NAN),
        back(30);
    run<adapt_portable<adapt_shape, none>>(in, x.data(), blocked.data());
    for (int i = 0; i < int(blocked.size()); ++i) {
      const int c = i / (block * 5) * block + i % block;
      CHECK(blocked[i] == (c < 6 ? x[c * 5 + i / block % 5] : 0.0f));
    }
    run<adapt_portable<adapt_shape, none>>(out, blocked.data(), back.data());
    CHECK(back == x);
  }
}

TEST_CASE("resize follows the examples of the ONNX specification") {
  const float x[] = {1, 2, 3, 4};
  const resize_shape nearest{1, 1, 2, 2, 4, 6, 0, 0, 0, 2, 3, -0.75f, 0};
  float y[24];
  run<resize_portable<resize_shape, none>>(nearest, x, y);
  for (int i = 0; i < 24; ++i)
    CHECK(y[i] == x[i / 12 * 2 + i % 6 / 3]);
  const resize_shape linear{1, 1, 2, 2, 4, 4, 1, 0, 0, 2, 2, -0.75f, 0};
  const float expected[] = {1,   1.25, 1.75, 2,   1.5, 1.75, 2.25, 2.5,
                            2.5, 2.75, 3.25, 3.5, 3,   3.25, 3.75, 4};
  run<resize_portable<resize_shape, none>>(linear, x, y);
  for (int i = 0; i < 16; ++i)
    CHECK(y[i] == Approx(expected[i]));
  const resize_shape corners{1, 1, 2, 2, 4, 4, 1, 2, 0, 2, 2, -0.75f, 0};
  run<resize_portable<resize_shape, none>>(corners, x, y);
  for (int i = 0; i < 16; ++i)
    CHECK(y[i] == Approx(1 + i % 4 / 3.0 + i / 4 * 2 / 3.0));
  // A cubic kernel gives a straight line back, away from the edges.
  float line[8], wide[16];
  for (int i = 0; i < 8; ++i)
    line[i] = float(i);
  const resize_shape cubic{1, 1, 1, 8, 1, 16, 2, 0, 0, 1, 2, -0.5f, 0};
  run<resize_portable<resize_shape, none>>(cubic, line, wide);
  for (int i = 4; i < 12; ++i)
    CHECK(wide[i] == Approx((i + 0.5) / 2 - 0.5));
}

TEST_CASE("integer sums and products wrap", "[portable]") {
  const std::int32_t most = 2147483647;
  const std::int32_t x[] = {most, 1, -most - 1};
  std::int32_t y = 0;
  run<reduce_sum_portable<reduce_shape, none>>(reduce_shape{1, 2, 1}, x, &y);
  CHECK(y == -most - 1);
  run<reduce_sum_square_portable<reduce_shape, none>>(reduce_shape{1, 1, 1}, x,
                                                      &y);
  CHECK(y == 1);
  run<reduce_l1_portable<reduce_shape, none>>(reduce_shape{1, 1, 1}, x + 2, &y);
  CHECK(y == -most - 1);
  const matmul_shape m{1, 1, 1, 2, 0, 0, 0, 0};
  run<matmul_portable<matmul_shape, none>>(m, x, x, &y);
  CHECK(y == 2);
}
