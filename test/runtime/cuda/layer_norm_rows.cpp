// Checks the kernel of layer normalization on the CPU's block policy: against
// plain C++ in double precision, and that its results do not depend on the
// order of threads.
#include "runtime/routines/normalization/layer_norm/rows.cuh"
#include "runtime/routines/normalization/layer_norm/shape.h"
#include "test/runtime/cuda/row_case.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

using namespace nnc_test;

namespace {

/// Layer normalization of a row, without scale and bias.
std::vector<double> normalized(const std::vector<double> &x, double epsilon,
                               double &spread) {
  double mean = 0, variance = 0, size = 0;
  for (const double v : x)
    mean += v / double(x.size());
  for (const double v : x) {
    variance += (v - mean) * (v - mean) / double(x.size());
    size = std::fmax(size, std::fabs(v));
  }
  const double factor = 1 / std::sqrt(variance + epsilon);
  spread = size * factor; // by which rounding errors of the mean grow
  std::vector<double> y;
  for (const double v : x)
    y.push_back((v - mean) * factor);
  return y;
}

/// A layer_norm with its operands, of which the epilogue's lie in y.
template <class T> struct layer_norm_case {
  tensor<T> x, scale, bias, residual;
  tensor<float> channels;
};

template <class T, int ARCH, bool FUSED, class S>
std::vector<char> run_layer_norm(const S &s, const layer_norm_case<T> &c,
                                 bool shifted, unsigned seed) {
  tensor<T> y(c.x.size(), shifted);
  std::memcpy(static_cast<void *>(y.data()), c.residual.data(), y.bytes());
  const auto registers = [&](auto &grid) {
    grid.may_read(c.x.data(), c.x.bytes());
    grid.may_read(c.scale.data(), c.scale.bytes());
    grid.may_read(c.bias.data(), c.bias.bytes());
    grid.may_read(c.channels.data(), c.channels.bytes());
    grid.may_write(y.data(), y.bytes());
  };
  const auto run = [&](const auto &epi) {
    using epilogue = std::decay_t<decltype(epi)>;
    using routine = nnc::layer_norm_f16_rows_sm75<S, epilogue>;
    return launch<ARCH>(typename routine::kernels(), seed, s, registers,
                        static_cast<const T *>(c.x.data()),
                        static_cast<const T *>(c.scale.data()),
                        static_cast<const T *>(c.bias.data()), y.data(), epi);
  };
  std::string error;
  if constexpr (FUSED)
    error = run(bias_residual_epilogue<T>(c.channels.data(), y.data()));
  else
    error = run(nnc::none());
  REQUIRE(error == "");
  return y.content();
}

template <class T, int ARCH, bool FUSED> void check_layer_norm(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    nnc::layer_norm_shape s{1, random_length(r, i), 1e-5f};
    s.outer = random_rows(r, s.size);
    const auto shifts = [&] { return r.between(0, 11) == 0; };
    const std::size_t all = std::size_t(s.outer) * s.size;
    const layer_norm_case<T> c{
        {all, shifts()},
        {std::size_t(s.size), shifts()},
        {std::size_t(s.size), shifts()},
        {all, false},
        {std::size_t(s.size), FUSED && r.between(0, 2) == 0}};
    std::vector<float> values =
        random_values(r, all, r.between(0, 1) ? 1.0f : 100.0f,
                      r.between(0, 1) ? 0.0f : float(r.between(-200, 200)));
    if (r.between(0, 3) == 0)
      add_specials(r, values, s.size);
    c.x.set(values);
    c.scale.set(random_values(r, s.size, 2, 0));
    c.bias.set(random_values(r, s.size, 2, 0));
    c.residual.set(random_values(r, all, 2, 0));
    c.channels.set(random_values(r, s.size, 2, 0));
    const bool shifted = shifts();
    INFO(describe(s) << " shifted " << shifted);
    const std::vector<char> bytes =
        run_layer_norm<T, ARCH, FUSED>(s, c, shifted, unsigned(i));
    REQUIRE((bytes ==
             run_layer_norm<T, ARCH, FUSED>(s, c, shifted, unsigned(i) + 999)));
    const T *y = reinterpret_cast<const T *>(bytes.data());
    for (int row = 0; row < s.outer; ++row) {
      const std::size_t at = std::size_t(row) * s.size;
      std::vector<double> x;
      for (int k = 0; k < s.size; ++k)
        x.push_back(static_cast<double>(static_cast<float>(c.x[at + k])));
      double spread = 0;
      const std::vector<double> z = normalized(x, s.epsilon, spread);
      for (int k = 0; k < s.size; ++k) {
        const auto number = [](auto v) {
          return static_cast<double>(static_cast<float>(v));
        };
        double want = z[k] * number(c.scale[k]) + number(c.bias[k]);
        if (FUSED) {
          want += number(c.channels[k]) + number(c.residual[at + k]);
          want = want > 0 ? want : 0; // and 0 for NaN
        }
        REQUIRE(agrees(y[at + k], want,
                       2e-6 + 3e-6 * std::fabs(z[k]) + 1e-6 * spread));
      }
    }
  }
}

/// A shape of constants, as emitted modules have them.
struct constant_layer_norm {
  static constexpr int outer = 2, size = 1416;
  static constexpr float epsilon = 1e-5f;
};

} // namespace

TEST_CASE("layer_norm on blocks, of floats") {
  check_layer_norm<float, 75, false>(64);
  check_layer_norm<float, 90, true>(48);
}
TEST_CASE("layer_norm on blocks, of bf16") {
  check_layer_norm<nnc::bf16, 80, false>(24);
  check_layer_norm<nnc::bf16, 75, true>(24);
}
TEST_CASE("layer_norm on blocks, of halves") {
  check_layer_norm<nnc::f16, 80, false>(64);
  check_layer_norm<nnc::f16, 75, true>(48);
}

TEST_CASE("layer_norm on blocks of a constant shape has the same bits") {
  random_source r;
  const constant_layer_norm n;
  const std::size_t all = std::size_t(n.outer) * n.size, row = n.size;
  const layer_norm_case<float> operands{
      {all, false}, {row, false}, {row, false}, {all, false}, {row, false}};
  operands.x.set(random_values(r, all, 3, 1));
  operands.scale.set(random_values(r, row, 2, 0));
  operands.bias.set(random_values(r, row, 2, 0));
  operands.residual.set(random_values(r, all, 2, 0));
  operands.channels.set(random_values(r, row, 2, 0));
  const nnc::layer_norm_shape run_time{n.outer, n.size, n.epsilon};
  CHECK((run_layer_norm<float, 75, true>(n, operands, false, 1) ==
         run_layer_norm<float, 75, true>(run_time, operands, false, 1)));
}
