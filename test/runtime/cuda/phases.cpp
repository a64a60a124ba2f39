// Checks phases.cuh on the CPU's block policy: each result against its sum in
// double precision, and that results do not depend on the order of threads.
#include "runtime/routines/convolution/conv_transpose2d/phases.cuh"
#include "runtime/routines/convolution/conv_transpose2d/shape.h"
#include "test/runtime/check.h"
#include "test/runtime/cuda/float_case.h"
#include "test/runtime/random_shapes.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace nnc_test;

namespace {

using shape = nnc::conv_transpose2d_shape;

/// A transposed convolution with its operands, and its exact result. Weights
/// are w[c][k][kh][kw], x and y in NHWC.
template <class T> struct phases_case {
  shape s;
  device_memory<T> x, w, residual, packed;
  device_memory<float> bias;
  std::vector<double> want, size; ///< and the sums of the magnitudes

  phases_case(const shape &s, unsigned seed)
      : s(s), x(std::size_t(s.n) * s.h * s.w * s.c),
        w(std::size_t(s.c) * s.k * s.kh * s.kw),
        residual(std::size_t(s.n) * s.oh * s.ow * s.k),
        packed(weights(s).first_element(weights(s).phases(), sizeof(T))),
        bias(s.k), want(residual.size()), size(residual.size(), 2) {
    std::mt19937 engine(seed);
    const auto fill = [&](const auto &m) {
      for (std::size_t i = 0; i < m.size(); ++i)
        m[i] = (int(engine() % 2001) - 1000) / 1000.0f;
    };
    fill(x);
    fill(w);
    fill(residual);
    fill(bias);
    T *next = packed.data();
    weights(s).visit(sizeof(T), [&](int filter, int r, int t, int channel) {
      *next++ = filter < 0 ? T(0.0f) : w[at(filter, r, t, channel)];
    });
    REQUIRE(next == packed.data() + packed.size());
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] = static_cast<double>(bias[i % s.k]) + number(residual[i]);
    for (int pixel = 0; pixel < s.n * s.h * s.w; ++pixel)
      for (int r = 0; r < s.kh; ++r)
        for (int t = 0; t < s.kw; ++t)
          add(pixel, r, t);
  }

  std::string wrong(const device_memory<T> &y) const {
    const double epsilon = 0x1p-23, unit = rounding_unit<T>;
    const double terms = double(s.kh) * s.kw * s.c;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double got = number(y[i]);
      const double most = 4 * std::sqrt(terms) * epsilon * size[i] +
                          unit * (std::fabs(want[i]) + 0x1p-13);
      if (!(std::fabs(got - want[i]) <= most))
        return "result " + std::to_string(i) + " is " + std::to_string(got) +
               ", not " + std::to_string(want[i]);
    }
    return "";
  }

private:
  static nnc::phase_weights weights(const shape &s) {
    return {s.c, s.k, s.kh, s.kw, s.sh};
  }
  static double number(T v) {
    return static_cast<double>(static_cast<float>(v));
  }
  std::size_t at(int filter, int r, int t, int channel) const {
    return ((std::size_t(channel) * s.k + filter) * s.kh + r) * s.kw + t;
  }
  /// Adds the products of an input pixel and a tap.
  void add(int pixel, int r, int t) {
    const int row = pixel / s.w % s.h * s.sh + r - s.pt;
    const int column = pixel % s.w * s.sw + t - s.pl;
    if (row < 0 || row >= s.oh || column < 0 || column >= s.ow)
      return;
    const int image = pixel / s.w / s.h;
    const std::size_t to = (std::size_t(image) * s.oh + row) * s.ow + column;
    for (int k = 0; k < s.k; ++k)
      for (int c = 0; c < s.c; ++c) {
        const double v =
            number(x[std::size_t(pixel) * s.c + c]) * number(w[at(k, r, t, c)]);
        want[to * s.k + k] += v;
        size[to * s.k + k] += std::fabs(v);
      }
  }
};

/// Runs a routine; the residual lies in the memory of the results.
template <class T, int STRIDE, int ARCH, int ROWS, int COLUMNS, int DEPTH,
          int WARP_ROWS, int STAGES>
float_result run(const phases_case<T> &c, std::uint64_t seed) {
  using tile = nnc::gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, 32, STAGES>;
  const auto launch = [&](auto whole) {
    using kernel =
        nnc::phases_kernel<STRIDE, shape, T, tile, whole, float_epilogue<T>>;
    device_memory<T> y(c.want.size());
    std::memcpy(static_cast<void *>(y.data()), c.residual.data(), y.bytes());
    const float_epilogue<T> epi(c.bias.data(), y.data());
    kernel_grid<ARCH> grid(seed);
    grid.may_read(c.x.data(), c.x.bytes());
    grid.may_read_constant(c.packed.data(), c.packed.bytes());
    grid.may_read_constant(c.bias.data(), c.bias.bytes());
    grid.may_write(y.data(), y.bytes());
    float_result result;
    const T *const from = c.x.data(), *const weights = c.packed.data();
    result.error = grid.template run<kernel>(kernel::grid(c.s), c.s, from,
                                             weights, y.data(), epi);
    if (result.error.empty())
      result.error = c.wrong(y);
    const auto *first = reinterpret_cast<const unsigned char *>(y.data());
    result.bytes.assign(first, first + y.bytes());
    return result;
  };
  return c.s.c % (16 / int(sizeof(T))) == 0
             ? launch(nnc::bool_constant<true>{})
             : launch(nnc::bool_constant<false>{});
}

/// True if the kernels of this stride can compute the layer.
template <int STRIDE> bool applies(const shape &s) {
  return nnc::phases_apply<STRIDE>(s);
}

template <class T> struct phases_routine {
  const char *name;
  int stride;
  bool (*applies)(const shape &s);
  float_result (*run)(const phases_case<T> &, std::uint64_t seed);
};
#define NNC_PHASES(T, STRIDE, ...)                                             \
  {#STRIDE ", " #__VA_ARGS__, STRIDE, applies<STRIDE>,                         \
   run<T, STRIDE, __VA_ARGS__>}
template <class T>
const phases_routine<T> routines[] = {
    NNC_PHASES(T, 2, 80, 64, 32, 64, 32, 4),
    NNC_PHASES(T, 2, oldest<T>, 64, 64, 64, 32, 2),
    NNC_PHASES(T, 3, oldest<T>, 16, 32, 64, 16, 2),
    NNC_PHASES(T, 4, 80, 16, 32, 64, 16, 3),
};

/// A random layer. Its results may end before the last tap of the last pixel,
/// or behind it.
shape random_layer(random_source &r, int elements, int stride) {
  shape s{};
  s.n = r.between(1, 2);
  s.c = r.between(0, 2) ? elements * r.between(1, 6) : r.between(1, 40);
  s.k = r.between(0, 1) ? 8 * r.between(1, 9) : r.between(1, 70);
  s.h = r.between(1, 8);
  s.w = r.between(1, 8);
  s.sh = s.sw = stride;
  s.kh = s.sh + r.between(0, 3);
  s.kw = s.sw + r.between(0, 2);
  s.dh = s.dw = s.groups = 1;
  s.pt = r.between(0, s.kh - 1);
  s.pl = r.between(0, s.kw - 1);
  const auto length = [&](int in, int taps, int before) {
    const int all = (in - 1) * s.sh + taps - before;
    return nnc::larger(1, all + r.between(-taps / 2, 1));
  };
  s.oh = length(s.h, s.kh, s.pt);
  s.ow = length(s.w, s.kw, s.pl);
  return s;
}

template <class T> void check_random(int count) {
  random_source r;
  for (int i = 0; i < count; ++i) {
    const phases_routine<T> &routine = routines<T>[r.between(0, 3)];
    const shape s = random_layer(r, 16 / int(sizeof(T)), routine.stride);
    REQUIRE(routine.applies(s));
    INFO(routine.name << describe(s));
    const phases_case<T> c(s, unsigned(i));
    const float_result first = routine.run(c, unsigned(i));
    REQUIRE(first.error == "");
    const float_result second = routine.run(c, unsigned(i) + 1000);
    REQUIRE(second.error == "");
    REQUIRE(first.bytes == second.bytes);
  }
}

} // namespace

TEST_CASE("transposed convolutions of halves in phases") {
  check_random<nnc::f16>(280);
}
TEST_CASE("transposed convolutions of bf16 in phases") {
  check_random<nnc::bf16>(70);
}
TEST_CASE("transposed convolutions of floats in phases") {
  check_random<float>(280);
}
