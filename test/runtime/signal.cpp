// Tests Fourier transforms, filters and determinants of random shapes against
// their definitions.
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/matrix/det/portable.h"
#include "runtime/routines/signal/dft/portable.h"
#include "runtime/routines/signal/filter/portable.h"
#include "test/runtime/check.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 source(23);

int draw(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(source);
}
template <class T> std::vector<T> normal(int count) {
  std::normal_distribution<double> values;
  std::vector<T> v(static_cast<std::size_t>(count));
  for (T &x : v)
    x = static_cast<T>(values(source));
  return v;
}

using complex = std::complex<double>;

/// Runs the routine in two parts, like two threads with scratch of their own.
template <class R, class S, class... A>
void run(const S &s, std::size_t scratch, A... args) {
  std::vector<std::uint64_t> first(scratch / 8 + 1), second(first);
  const int units = R::units(s), half = units / 2;
  R::run(s, args..., reinterpret_cast<unsigned char *>(first.data()), none{}, 0,
         half);
  R::run(s, args..., reinterpret_cast<unsigned char *>(second.data()), none{},
         half, units);
}

template <class T> void check_dft(int length, double tolerance) {
  dft_shape s{};
  s.outer = draw(1, 2);
  s.inner = draw(1, 3);
  s.length = length;
  s.inverse = draw(0, 1);
  const bool one_sided = draw(0, 1) != 0;
  s.hermitian = one_sided && s.inverse;
  s.in_parts = one_sided ? (s.inverse ? 2 : 1) : draw(1, 2);
  s.out_parts = s.hermitian ? 1 : 2;
  s.count = one_sided && !s.inverse ? length / 2 + 1 : length;
  s.lines = s.hermitian ? 1 : draw(1, 3);
  s.step = s.lines > 1 ? draw(1, 3) : 0;
  s.size = s.lines > 1 ? length + (s.lines - 1) * s.step + draw(0, 2)
                       : draw(1, length + 3);
  s.windowed = draw(0, 1);
  const std::vector<T> x = normal<T>(s.outer * s.size * s.inner * s.in_parts),
                       window = normal<T>(length);
  std::vector<T> roots,
      y(std::size_t(s.outer * s.lines * s.count * s.inner * s.out_parts));
  auto root = [&](long i) {
    return std::polar(1.0, -2 * M_PI * double(i % length) / length);
  };
  for (int i = 0; i < length; ++i) {
    roots.push_back(T(root(i).real()));
    roots.push_back(T(root(i).imag()));
  }
  run<dft_portable<dft_shape, none>>(s, std::size_t(32 * length), x.data(),
                                     window.data(), roots.data(), y.data());
  for (int o = 0; o < s.outer; ++o)
    for (int line = 0; line < s.lines; ++line)
      for (int j = 0; j < s.inner; ++j) {
        std::vector<complex> given(std::size_t(length), 0.0);
        double magnitude = 0;
        const int whole = s.hermitian ? length / 2 + 1 : length;
        for (int i = 0; i < whole && line * s.step + i < s.size; ++i) {
          const auto at = std::size_t(
              ((o * s.size + line * s.step + i) * s.inner + j) * s.in_parts);
          const double factor = s.windowed ? double(window[std::size_t(i)]) : 1;
          given[std::size_t(i)] =
              complex(x[at], s.in_parts == 2 ? double(x[at + 1]) : 0.0) *
              factor;
        }
        for (int i = whole; i < length; ++i)
          given[std::size_t(i)] = std::conj(given[std::size_t(length - i)]);
        for (const complex &value : given)
          magnitude += std::abs(value);
        for (int k = 0; k < s.count; ++k) {
          complex sum = 0;
          for (int i = 0; i < length; ++i) {
            const complex turn = root(long(i) * k);
            sum += given[std::size_t(i)] * (s.inverse ? std::conj(turn) : turn);
          }
          const double scale = s.inverse ? 1.0 / length : 1.0;
          const auto at =
              std::size_t((((o * s.lines + line) * s.count + k) * s.inner + j) *
                          s.out_parts);
          const double bound = tolerance * (magnitude + 1e-30) * scale;
          REQUIRE(std::abs(double(y[at]) - sum.real() * scale) <= bound);
          if (s.out_parts == 2)
            REQUIRE(std::abs(double(y[at + 1]) - sum.imag() * scale) <= bound);
        }
      }
}

template <class T> void check_filter() {
  const int size = draw(1, 9);
  const filter_shape s{draw(1, 3), size, draw(1, 4), draw(1, 7), draw(1, size)};
  const std::vector<T> x = normal<T>(s.outer * s.size * s.inner),
                       weights = normal<T>(s.count * s.taps);
  std::vector<std::int64_t> starts;
  for (int i = 0; i < s.count; ++i)
    starts.push_back(draw(-2, size + 1));
  std::vector<T> y(std::size_t(s.outer * s.count * s.inner));
  using R = filter_portable<filter_shape, none>;
  R::run(s, x.data(), starts.data(), weights.data(), y.data(), none{}, 0,
         R::units(s));
  for (int o = 0; o < s.outer; ++o)
    for (int i = 0; i < s.count; ++i)
      for (int j = 0; j < s.inner; ++j) {
        const std::int64_t start = std::max<std::int64_t>(
            std::min<std::int64_t>(starts[std::size_t(i)], size - s.taps), 0);
        double sum = 0, magnitude = 0;
        for (int t = 0; t < s.taps; ++t) {
          const double product =
              double(weights[std::size_t(i * s.taps + t)]) *
              double(x[std::size_t((o * size + start + t) * s.inner + j)]);
          sum += product;
          magnitude += std::abs(product);
        }
        const double got = y[std::size_t((o * s.count + i) * s.inner + j)];
        REQUIRE(std::abs(got - sum) <= 1e-6 * magnitude);
      }
}

/// Returns the determinant of a, by expansion along the first row.
double expand(const std::vector<double> &a, int n) {
  if (n == 1)
    return a[0];
  double sum = 0;
  for (int skipped = 0; skipped < n; ++skipped) {
    std::vector<double> rest;
    for (int i = 1; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (j != skipped)
          rest.push_back(a[std::size_t(i * n + j)]);
    sum +=
        (skipped % 2 ? -1 : 1) * a[std::size_t(skipped)] * expand(rest, n - 1);
  }
  return sum;
}

} // namespace

TEST_CASE("dft is the sum of its definition, for lengths of all kinds") {
  for (int length = 1; length <= 66; ++length)
    for (int round = 0; round < 4; ++round) {
      check_dft<float>(length, 1e-6);
      check_dft<double>(length, 1e-14);
    }
  for (int length : {97, 128, 400, 480, 512, 509})
    check_dft<float>(length, 1e-6);
}

TEST_CASE("filter adds what its taps find, and stays in its lines") {
  for (int round = 0; round < 60; ++round) {
    check_filter<float>();
    check_filter<double>();
  }
}

TEST_CASE("det is that of the expansion by rows") {
  for (int n = 1; n <= 6; ++n) {
    const det_shape s{5, n};
    std::vector<double> x = normal<double>(5 * n * n), y(5);
    for (std::size_t i = 0; i < x.size(); i += 3)
      x[i] = 0; // pivots that must be exchanged
    if (n > 1)
      for (int j = 0; j < n; ++j)
        x[std::size_t(j)] = x[std::size_t(n + j)]; // two equal rows
    run<det_portable<det_shape, none>>(s, std::size_t(8 * n * n), x.data(),
                                       y.data());
    for (int i = 0; i < 5; ++i) {
      const auto begin = x.begin() + i * n * n;
      const double want = expand({begin, begin + n * n}, n);
      CHECK(std::abs(y[std::size_t(i)] - want) <= 1e-12 * (1 + std::abs(want)));
    }
  }
}
