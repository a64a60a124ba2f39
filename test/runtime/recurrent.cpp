// Tests queues and LSTM cells against their definitions, written out in double.
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/recurrent/enqueue/portable.h"
#include "runtime/routines/recurrent/integer_lstm/portable.h"
#include "runtime/routines/recurrent/lstm/portable.h"
#include "test/runtime/check.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 source(7);

template <class T> std::vector<T> reals(std::size_t count, double size) {
  std::uniform_real_distribution<double> values(-size, size);
  std::vector<T> v(count);
  for (T &x : v)
    x = static_cast<T>(values(source));
  return v;
}
std::vector<std::int8_t> bytes(std::size_t count) {
  std::uniform_int_distribution<int> values(-128, 127);
  std::vector<std::int8_t> v(count);
  for (std::int8_t &x : v)
    x = static_cast<std::int8_t>(values(source));
  return v;
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// LSTM cells in double. Element (gate, u, i) of a weight is w[(gate * units +
/// u) * columns + i].
struct cells {
  int batch, steps, input, units;
  bool time_major;
  double clip;
  std::vector<double> w, r, bias, h, c;

  /// Returns h after each step, in the order of x.
  std::vector<double> run(const std::vector<double> &x) {
    std::vector<double> y(std::size_t(batch * steps * units));
    for (int b = 0; b < batch; ++b)
      for (int t = 0; t < steps; ++t) {
        const int row = time_major ? t * batch + b : b * steps + t;
        std::vector<double> next;
        for (int u = 0; u < units; ++u) {
          double gates[4];
          for (int g = 0; g < 4; ++g) {
            const int at = g * units + u;
            gates[g] = bias[at];
            for (int i = 0; i < input; ++i)
              gates[g] += w[at * input + i] * x[row * input + i];
            for (int i = 0; i < units; ++i)
              gates[g] += r[at * units + i] * h[b * units + i];
          }
          double &cell = c[b * units + u];
          cell = logistic(gates[1]) * cell +
                 logistic(gates[0]) * std::tanh(gates[2]);
          if (clip > 0)
            cell = std::fmax(-clip, std::fmin(clip, cell));
          next.push_back(logistic(gates[3]) * std::tanh(cell));
        }
        for (int u = 0; u < units; ++u)
          y[row * units + u] = h[b * units + u] = next[u];
      }
    return y;
  }
};

} // namespace

TEST_CASE("push moves a queue on, in place or not") {
  for (const enqueue_shape &s :
       {enqueue_shape{1, 8, 1}, enqueue_shape{3, 12, 4}, enqueue_shape{2, 5, 5},
        enqueue_shape{4, 6, 0}}) {
    const auto x = bytes(std::size_t(s.outer * s.size)),
               f = bytes(std::size_t(s.outer * s.count));
    auto inPlace = x, y = x;
    using routine = enqueue_portable<enqueue_shape, none>;
    routine::run(s, x.data(), f.data(), y.data(), none{}, 0, s.outer);
    // Each row is a share of its own.
    for (int row = 0; row < s.outer; ++row)
      routine::run(s, inPlace.data(), f.data(), inPlace.data(), none{}, row,
                   row + 1);
    CHECK(y == inPlace);
    const int kept = s.size - s.count;
    for (int o = 0; o < s.outer; ++o)
      for (int i = 0; i < s.size; ++i)
        CHECK(y[o * s.size + i] == (i < kept ? x[o * s.size + i + s.count]
                                             : f[o * s.count + i - kept]));
  }
}

TEST_CASE("lstm computes its gates") {
  for (const lstm_shape &s :
       {lstm_shape{1, 6, 5, 7, 0, 0}, lstm_shape{3, 4, 9, 3, 1, 0.25f},
        lstm_shape{2, 3, 1, 1, 0, 0.0f}, lstm_shape{2, 1, 8, 5, 1, 1e9f}}) {
    cells want{s.batch, s.steps, s.input, s.units, s.time_major != 0,
               s.clip,  {},      {},      {},      {},
               {}};
    const auto count = [](int a, int b) {
      return std::size_t(a) * std::size_t(b);
    };
    const auto x = reals<float>(count(s.batch * s.steps, s.input), 2),
               w = reals<float>(count(4 * s.units, s.input), 1),
               r = reals<float>(count(4 * s.units, s.units), 1),
               bias = reals<float>(count(4, s.units), 1),
               h = reals<float>(count(s.batch, s.units), 1),
               c = reals<float>(count(s.batch, s.units), 1);
    want.w.assign(w.begin(), w.end());
    want.r.assign(r.begin(), r.end());
    want.bias.assign(bias.begin(), bias.end());
    want.h.assign(h.begin(), h.end());
    want.c.assign(c.begin(), c.end());
    std::vector<double> expected =
        want.run(std::vector<double>(x.begin(), x.end()));
    expected.insert(expected.end(), want.c.begin(), want.c.end());
    std::vector<float> y(expected.size(), NAN);
    using routine = lstm_portable<lstm_shape, none>;
    for (int b = s.batch; b-- > 0;) // shares, in another order
      routine::run(s, x.data(), w.data(), r.data(), bias.data(), h.data(),
                   c.data(), y.data(), none{}, b, b + 1);
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(std::fabs(y[i] - expected[i]) < 2e-6);
  }
}

TEST_CASE("integer_lstm is near the LSTM of the real numbers it stands for") {
  // Scales 1/64 of x, 1/128 of h and of weights, 2^-11 of cells. Entries of the
  // table are the nearest numbers here: TFLite's differ by one unit at most.
  std::vector<std::uint16_t> table;
  for (int k = 0; k < 256; ++k)
    table.push_back(static_cast<std::uint16_t>(
        std::fmin(65535, std::round(65536 * logistic(k / 24.0)))));
  for (int single = 0; single < 2; ++single)
    for (const integer_lstm_shape &s :
         {integer_lstm_shape{1, 7, 6, 5, 0, -3, 0, 6, 0, single},
          integer_lstm_shape{3, 4, 9, 2, 1, 10, 1500, 6, 0, single}}) {
      const auto count = [](int a, int b) {
        return std::size_t(a) * std::size_t(b);
      };
      const auto x = bytes(count(s.batch * s.steps, s.input)),
                 w = bytes(count(4 * s.units, s.input)),
                 r = bytes(count(4 * s.units, s.units)),
                 h = bytes(count(s.batch, s.units));
      cells want{s.batch,
                 s.steps,
                 s.input,
                 s.units,
                 s.time_major != 0,
                 s.clip / 2048.0,
                 {},
                 {},
                 {},
                 {},
                 {}};
      // The zero point of x is 4: biases include it, and that of h.
      std::vector<std::int32_t> bias, rbias;
      std::vector<double> real;
      for (int at = 0; at < 4 * s.units; ++at) {
        std::int32_t one = 37 * at - 300, other = 0;
        want.bias.push_back(one / (64.0 * 128));
        for (int i = 0; i < s.input; ++i)
          one -= 4 * w[std::size_t(at * s.input + i)];
        for (int i = 0; i < s.units; ++i)
          other -= s.zero * r[std::size_t(at * s.units + i)];
        bias.push_back(one);
        rbias.push_back(other);
      }
      for (std::int8_t v : x)
        real.push_back((v - 4) / 64.0);
      for (std::int8_t v : w)
        want.w.push_back(v / 128.0);
      for (std::int8_t v : r)
        want.r.push_back(v / 128.0);
      for (std::int8_t v : h)
        want.h.push_back((v - s.zero) / 128.0);
      std::vector<std::int8_t> c;
      for (int i = 0; i < s.batch * s.units; ++i) {
        const int cell = 211 * i - 900;
        want.c.push_back(cell / 2048.0);
        c.push_back(static_cast<std::int8_t>(cell & 255));
        c.push_back(static_cast<std::int8_t>(cell >> 8));
      }
      // 2^12 / (64 * 128) = 1/2 and 2^12 / (128 * 128) = 1/4 for gates; 2^-15
      // for f c, 2^-19 for i g, and 2^-23 for h.
      const std::int32_t half = 1 << 30;
      std::vector<std::int32_t> factors;
      for (int gate = 0; gate < 4; ++gate)
        factors.insert(factors.end(), {half, 0, half, -1});
      factors.insert(factors.end(), {half, -14, half, -18, half, -22});
      const std::vector<double> expected = want.run(real);
      std::vector<std::int8_t> y(expected.size() + c.size(), 99);
      using routine = integer_lstm_portable<integer_lstm_shape, none>;
      routine::run(s, x.data(), w.data(), r.data(), bias.data(), rbias.data(),
                   factors.data(), table.data(), h.data(), c.data(), y.data(),
                   none{}, 0, s.batch);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double rounded =
            std::fmax(-128, std::fmin(127, expected[i] * 128 + s.zero));
        CHECK(std::fabs(y[i] - rounded) < 2.5);
      }
      for (std::size_t i = 0; i < want.c.size(); ++i) {
        const std::int8_t *cell = y.data() + expected.size() + 2 * i;
        const int value = static_cast<std::uint8_t>(cell[0]) + 256 * cell[1];
        CHECK(std::fabs(value / 2048.0 - want.c[i]) < 0.05);
      }
    }
}
