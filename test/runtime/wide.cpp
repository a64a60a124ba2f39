// Tests fixed-point functions, and routines with 16-bit numbers or 64-bit sums,
// against the real numbers that they represent.
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/convolution/conv2d/nhwc.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/normalization/table_softmax/portable.h"
#include "runtime/routines/recurrent/full_lstm/portable.h"
#include "runtime/routines/recurrent/lstm/portable.h"
#include "runtime/routines/resampling/fixed_resize/portable.h"
#include "runtime/simd/elementwise.h"
#include "test/runtime/check.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 source(11);

template <class T> std::vector<T> whole(int count, int low, int high) {
  std::uniform_int_distribution<int> values(low, high);
  std::vector<T> v;
  for (int i = 0; i < count; ++i)
    v.push_back(static_cast<T>(values(source)));
  return v;
}
std::vector<float> reals(int count) {
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> v;
  for (int i = 0; i < count; ++i)
    v.push_back(values(source));
  return v;
}

} // namespace

TEST_CASE("rescale_wide rounds to nearest, halves up", "[wide]") {
  std::uniform_int_distribution<std::int64_t> sums(-(1LL << 46), 1LL << 46);
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t x = sums(source), shift = -int(i % 40) + 8;
    const std::int64_t multiplier = (1 << 14) + int(source() % (1 << 14));
    const long double exact = std::floor(
        static_cast<long double>(x) * static_cast<long double>(multiplier) *
            std::exp2(static_cast<long double>(shift - 15)) +
        0.5L);
    CHECK(rescale_wide(x, multiplier, shift) ==
          static_cast<std::int64_t>(exact));
    const auto narrow = static_cast<std::int32_t>(x % 1000003);
    CHECK(rescale_wide(narrow, std::int32_t(multiplier), std::int32_t(-9)) ==
          rescale_wide(std::int64_t(narrow), multiplier, std::int64_t(-9)));
  }
}

TEST_CASE("gates of fixed-point numbers", "[wide]") {
  for (int x = -180000; x < 180000; x += 61) {
    const double real = x / 12288.0;
    CHECK(std::fabs(logistic_q15(x) / 32768.0 - 1 / (1 + std::exp(-real))) <
          1e-3);
    CHECK(std::fabs(tanh_q15(x) / 32768.0 - std::tanh(real)) < 1e-3);
  }
}

TEST_CASE("inverse roots of whole numbers", "[wide]") {
  for (const int x : {1, 2, 3, 4, 7, 100, 65025, 16711425, INT32_MAX}) {
    const double root =
        std::ldexp(inverse_root_multiplier(x), inverse_root_shift(x) - 31);
    CHECK(std::fabs(root * std::sqrt(x) - 1) < 1e-5);
  }
  CHECK(inverse_root_multiplier(0) == inverse_root_multiplier(1));
}

TEST_CASE("functions of fixed-point numbers", "[wide]") {
  for (int x = 1; x < 100000; x += 7) {
    const double inverse =
        std::ldexp(reciprocal_multiplier(x), sign_bits(x) - 61);
    CHECK(std::fabs(inverse * x - 1) < 1e-8);
    CHECK(sign_bits(x) == sign_bits(-x - 1));
  }
  CHECK(sign_bits(0) == 31);
  CHECK(sign_bits(1) == 30);
  CHECK(sign_bits(INT32_MAX) == 0);
  CHECK(sign_bits(INT32_MIN) == 0);
  CHECK(exp_q12(0) == 1 << 19);
  for (int x = 0; x > -(31 << 26); x -= 1000003)
    CHECK(std::fabs(std::ldexp(exp_q12(x), -19) -
                    std::exp(std::ldexp(x, -26))) < 2e-6);
  CHECK(std::abs(log_q5(1 << 19)) < 8);
  for (int x = 1 << 19; x < INT32_MAX - 10000019; x += 10000019)
    CHECK(std::fabs(std::ldexp(log_q5(x), -26) - std::log(std::ldexp(x, -19))) <
          1e-7);
}

TEST_CASE("sums of 64 bits", "[wide]") {
  // 700 products of the largest numbers do not fit in 32 bits.
  const conv2d_shape s{1, 700, 3, 3, 2, 3, 3, 1, 1, 1, 1, 1, 1, 3, 3, 1};
  const std::vector<std::int16_t> x(700 * 9, 32767);
  const std::vector<std::int8_t> w(2 * 700 * 9, 127);
  std::vector<std::int64_t> y(18), rows(18), product(1);
  conv2d_i64_portable<conv2d_shape, none>::run(s, x.data(), w.data(), y.data(),
                                               none{}, 0, 6);
  conv2d_i64_nhwc_portable<conv2d_shape, none>::run(s, x.data(), w.data(),
                                                    rows.data(), none{}, 0, 3);
  CHECK(y[4] == 9LL * 700 * 32767 * 127);
  CHECK(rows[8] == y[4]);
  CHECK(y[0] == 4LL * 700 * 32767 * 127);
  const matmul_shape m{1, 1, 1, 700, 0, 0, 0, 0};
  matmul_i64_portable<matmul_shape, none>::run(m, x.data(), w.data(),
                                               product.data(), none{}, 0, 1);
  CHECK(product[0] == 700LL * 32767 * 127);
}

TEST_CASE("softmax of integers of 16 bits", "[wide]") {
  std::vector<std::int16_t> powers, inverses;
  for (int i = 0; i <= 512; ++i) {
    const double at = std::fmin(i * 128, 65535) / 65535;
    powers.push_back(static_cast<std::int16_t>(
        std::lround(std::fmin(std::exp(10 * at - 10) * 32768, 32767))));
    inverses.push_back(static_cast<std::int16_t>(
        std::lround(std::fmin(32768 / (1 + at), 32767))));
  }
  // Differences are in units of 2^-10.
  const double unit = 65535.0 / 10240;
  for (const int size : {1, 2, 33, 500})
    for (const int single : {0, 1}) {
      const auto multiplier =
          static_cast<int>(std::lround(std::ldexp(unit / 8, 31)));
      const table_softmax_shape s{2, size, multiplier, 3, single};
      const auto x = whole<std::int16_t>(2 * size, -3000, 3000);
      std::vector<std::int16_t> y(x.size());
      using routine = table_softmax_portable<table_softmax_shape, none>;
      routine::run(s, x.data(), powers.data(), inverses.data(), y.data(),
                   none{}, 0, 2);
      for (int row = 0; row < 2; ++row) {
        double sum = 0;
        for (int i = 0; i < size; ++i)
          sum += std::exp(x[std::size_t(row * size + i)] / 1024.0);
        for (int i = 0; i < size; ++i) {
          const auto at = std::size_t(row * size + i);
          CHECK(std::fabs(y[at] / 32768.0 - std::exp(x[at] / 1024.0) / sum) <
                2e-3);
        }
      }
    }
}

TEST_CASE("bilinear resize of integers", "[wide]") {
  // To twice the size: elements stay, and new ones are means.
  const fixed_resize_shape s{1, 2, 3, 2, 3, 5, 512, 512, 0, 0};
  const auto x = whole<std::int16_t>(12, -32768, 32767);
  std::vector<std::int16_t> y(30);
  using routine = fixed_resize_portable<fixed_resize_shape, none>;
  routine::run(s, x.data(), y.data(), none{}, 0, 3);
  const auto of = [&](int row, int column, int c) {
    return double(x[std::size_t((row * 3 + column) * 2 + c)]);
  };
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      for (int c = 0; c < 2; ++c) {
        const double mean =
            (of(i / 2, j / 2, c) + of((i + 1) / 2, j / 2, c) +
             of(i / 2, (j + 1) / 2, c) + of((i + 1) / 2, (j + 1) / 2, c)) /
            4;
        CHECK(y[std::size_t((i * 5 + j) * 2 + c)] == std::round(mean));
      }
}

TEST_CASE("full_lstm without variants is lstm", "[wide]") {
  const lstm_shape plain{2, 3, 5, 4, 0, 0.5f};
  const full_lstm_shape full{2, 3, 5, 4, 4, 0, 0, 0, 0, 0.5f, 0};
  const auto x = reals(30), w = reals(80), r = reals(64), bias = reals(16),
             h = reals(8), c = reals(8);
  const std::vector<float> peepholes(12, 0.0f);
  // Scratch for one sequence at a time, and numbers behind it that stay.
  std::vector<float> y(32), z(32), scratch(25, 7.0f);
  lstm_portable<lstm_shape, none>::run(plain, x.data(), w.data(), r.data(),
                                       bias.data(), h.data(), c.data(),
                                       y.data(), none{}, 0, 2);
  full_lstm_portable<full_lstm_shape, none>::run(
      full, x.data(), w.data(), r.data(), bias.data(), peepholes.data(),
      h.data(), c.data(), z.data(),
      reinterpret_cast<unsigned char *>(scratch.data()), none{}, 0, 2);
  for (std::size_t i = 0; i < y.size(); ++i)
    CHECK(std::fabs(y[i] - z[i]) < 1e-6);
  for (std::size_t i = 20; i < scratch.size(); ++i)
    CHECK(scratch[i] == 7.0f);
}
