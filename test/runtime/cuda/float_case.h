// Operands of a layer of floats on the CPU's block policy, and its sums in
// double precision.
#ifndef NNC_TEST_CUDA_FLOAT_CASE_H
#define NNC_TEST_CUDA_FLOAT_CASE_H

#include "runtime/epilogue.h"
#include "test/runtime/cuda/gemm_case.h"
#include "test/runtime/cuda/rounding.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace nnc_test {

/// Bias and residual. Nothing hides errors of negative sums.
struct bias_residual {
  template <class V> NNC_INLINE V operator()(V v, V bias, V residual) const {
    return v + bias + residual;
  }
};

/// The kind of numbers that fill an operand: up to 1, of all magnitudes up to
/// 2^20 (8 for halves), or up to 1 with a few infinities among them.
enum class contents { small, large, infinite };

/// A convolution with its operands, and its exact result. Where `depthwise`,
/// groups, c and k are the same, and weights are w[kh][kw][k]; else groups is 1
/// and they are w[panel][term][32].
template <class T> struct float_case {
  nnc::conv2d_shape s;
  device_memory<T> x, w, residual;
  device_memory<float> bias;
  std::vector<double> want, size; ///< and the sums of the magnitudes

  float_case(const nnc::conv2d_shape &s, bool depthwise, contents what,
             unsigned seed)
      : s(s), x(std::size_t(s.n) * s.h * s.w * s.c),
        w(depthwise ? std::size_t(s.kh) * s.kw * s.k
                    : std::size_t((s.k + 31) / 32) * 32 * terms(s)),
        residual(std::size_t(nnc::gemm_rows(s)) * s.k), bias(s.k),
        want(residual.size()), size(residual.size()), engine(seed) {
    fill(x, what);
    fill(w, what == contents::large ? what : contents::small);
    fill(residual, contents::small);
    fill(bias, contents::small);
    for (int k = s.k; !depthwise && k % 32 != 0; ++k) // the last panel's rest
      for (int term = 0; term < terms(s); ++term)
        w[place_of(k, term)] = 0;
    compute(depthwise);
  }

  static int terms(const nnc::conv2d_shape &s) {
    return s.kh * s.kw * (s.c / s.groups);
  }
  std::size_t place_of(int k, int term) const {
    return (std::size_t(k / 32) * terms(s) + term) * 32 + k % 32;
  }
  /// Returns the first wrong output as text, or an empty string. An error is
  /// that of a plain sum, and that of rounding to T.
  std::string wrong(const device_memory<T> &y) const {
    const double epsilon = std::numeric_limits<float>::epsilon();
    const double unit = rounding_unit<T>;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double got = static_cast<double>(static_cast<float>(y[i]));
      const bool right =
          std::isfinite(want[i])
              ? std::fabs(got - want[i]) <=
                    4 * std::sqrt(double(terms(s))) * epsilon * size[i] +
                        4 * epsilon + unit * std::fabs(want[i]) + unit * 0x1p-13
          : std::isnan(want[i]) ? std::isnan(got)
                                : got == want[i];
      if (!right)
        return "output " + std::to_string(i) + " is " + std::to_string(got) +
               ", not " + std::to_string(want[i]);
    }
    return "";
  }

private:
  std::mt19937 engine;

  template <class M> void fill(const M &m, contents what) {
    for (std::size_t i = 0; i < m.size(); ++i) {
      float v = (int(engine() % 2001) - 1000) / 1000.0f;
      if (what == contents::large)
        v = std::ldexp(v, sizeof(T) == 2 ? int(engine() % 9) - 5
                                         : int(engine() % 41) - 20);
      if (what == contents::infinite && engine() % 64 == 0)
        v = (engine() % 2 ? 1.0f : -1.0f) *
            std::numeric_limits<float>::infinity();
      m[i] = v;
    }
  }
  double number(T v) const {
    return static_cast<double>(static_cast<float>(v));
  }
  void compute(bool depthwise) {
    std::vector<bool> used(std::size_t(s.n) * s.h * s.w);
    const int channels = s.c / s.groups;
    for (std::size_t at = 0; at < want.size(); ++at) {
      const int k = int(at % s.k), row = int(at / s.k);
      const int ow = row % s.ow, oh = row / s.ow % s.oh, n = row / s.ow / s.oh;
      double v = number_of(bias[k]) + number(residual[at]), sum = 2;
      for (int r = 0; r < s.kh; ++r)
        for (int t = 0; t < s.kw; ++t) {
          const int i = oh * s.sh + r * s.dh - s.pt;
          const int j = ow * s.sw + t * s.dw - s.pl;
          if (i < 0 || i >= s.h || j < 0 || j >= s.w)
            continue;
          const std::size_t pixel = (std::size_t(n) * s.h + i) * s.w + j;
          used[pixel] = true;
          const int tap = r * s.kw + t;
          for (int c = 0; c < channels; ++c) {
            const double product =
                depthwise ? number(x[pixel * s.c + k]) *
                                number(w[std::size_t(tap) * s.k + k])
                          : number(x[pixel * s.c + c]) *
                                number(w[place_of(k, tap * channels + c)]);
            v += product;
            sum += std::fabs(product);
          }
        }
      want[at] = v;
      size[at] = sum;
    }
    // No sum contains a pixel that no window does, not even times zero.
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!used[i / s.c])
        x[i] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
  static double number_of(float v) { return static_cast<double>(v); }
};

template <class T>
using float_epilogue =
    nnc::fused<bias_residual, nnc::channel_of<float>, nnc::full_of<T>>;

struct float_result {
  std::string error; ///< of the policy, or a wrong output
  std::vector<unsigned char> bytes;
};

/// Runs the kernel of a routine for the shape s, which is that of the case as
/// the type that the kernel takes, with `scratch` bytes of working memory if
/// its blocks count each other.
template <int ARCH, class K, class T, class S>
float_result run_kernel(nnc::kernel_list<K>, const float_case<T> &c, const S &s,
                        std::ptrdiff_t scratch, std::uint64_t seed) {
  device_memory<T> y(c.want.size()); // the residual lies in it
  std::memcpy(static_cast<void *>(y.data()), c.residual.data(), y.bytes());
  const float_epilogue<T> epi(c.bias.data(), y.data());
  float_result result;
  kernel_grid<ARCH> grid(seed);
  grid.may_read(c.x.data(), c.x.bytes());
  grid.may_read_constant(c.w.data(), c.w.bytes());
  grid.may_read_constant(c.bias.data(), c.bias.bytes());
  grid.may_write(y.data(), y.bytes());
  const T *const from = c.x.data(), *const weights = c.w.data();
  const auto launch = [&](const auto &...arguments) {
    result.error = grid.template run<K>(K::grid(s), s, from, weights, y.data(),
                                        arguments...);
  };
  if constexpr (nnc::counts_blocks<K, S>) {
    device_memory<unsigned char> sums(scratch);
    device_memory<std::uint32_t> counters(K::counters(s));
    std::memset(counters.data(), 0, counters.bytes());
    grid.may_write(sums.data(), sums.bytes());
    grid.may_write(counters.data(), counters.bytes());
    launch(sums.data(), epi, counters.data());
  } else {
    launch(epi);
  }
  if (result.error.empty())
    result.error = c.wrong(y);
  const auto *first = reinterpret_cast<const unsigned char *>(y.data());
  result.bytes.assign(first, first + y.bytes());
  return result;
}
/// Runs routine R.
template <class R, class T, class S>
float_result run_routine(const float_case<T> &c, const S &s,
                         std::ptrdiff_t scratch, std::uint64_t seed) {
  return run_kernel<(R::arch < 80 ? 75 : 80)>(typename R::kernels{}, c, s,
                                              scratch, seed);
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_FLOAT_CASE_H
