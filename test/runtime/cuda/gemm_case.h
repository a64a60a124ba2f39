// Runs implicit_gemm.cuh on the CPU's block policy, and the same convolution in
// double precision.
#ifndef NNC_TEST_CUDA_GEMM_CASE_H
#define NNC_TEST_CUDA_GEMM_CASE_H

#include "runtime/routines/convolution/conv2d/implicit_gemm.cuh"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "test/runtime/cuda/device_memory.h"
#include "test/runtime/cuda/kernel_grid.h"
#include "test/runtime/cuda/rounding.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace nnc_test {

/// Bias, residual and ReLU.
struct gemm_bias_residual_relu {
  template <class V> NNC_INLINE V operator()(V v, V bias, V residual) const {
    return nnc::max_fast(v + bias + residual, V(0.0f));
  }
};
/// The epilogue of sums of bytes: a scale for each channel, rounded to i8.
struct gemm_requantize {
  NNC_INLINE std::int8_t operator()(std::int32_t v, float scale) const {
    const float x = std::rint(static_cast<float>(v) * scale);
    return static_cast<std::int8_t>(x < -128 ? -128 : x > 127 ? 127 : x);
  }
};

/// A convolution with its operands, and its exact result.
template <class T> struct gemm_case {
  using sum = typename nnc::gemm_product<T>::sum;
  static constexpr bool is_float = std::is_same<sum, float>::value;
  nnc::conv2d_shape s;
  /// Weights and results of bytes are signed.
  using weight = std::conditional_t<sizeof(T) == 1, std::int8_t, T>;
  device_memory<T> x, residual;
  device_memory<weight> w;
  device_memory<unsigned char> packed;
  device_memory<float> bias; ///< or scales of i8
  std::vector<double> want;

  /// Without `checked`, `want` has the right size alone.
  gemm_case(const nnc::conv2d_shape &s, unsigned seed, bool checked = true)
      : s(s), x(std::size_t(s.n) * s.h * s.w * s.c),
        residual(std::size_t(nnc::gemm_rows(s)) * s.k),
        w(std::size_t(s.k) * nnc::gemm_terms(s)),
        packed(nnc::packed_weight_bytes(s, sizeof(T))), bias(s.k),
        want(residual.size()) {
    std::mt19937 engine(seed);
    const auto fill = [&](const auto &m) {
      for (std::size_t i = 0; i < m.size(); ++i)
        if constexpr (is_float)
          m[i] = (int(engine() % 2001) - 1000) / 1000.0f;
        else
          m[i] = static_cast<std::decay_t<decltype(m[i])>>(engine() % 256);
    };
    fill(x);
    fill(w);
    fill(residual);
    for (std::size_t i = 0; i < bias.size(); ++i)
      bias[i] = is_float ? (int(engine() % 2001) - 1000) / 1000.0f
                         : float(engine() % 100 + 1) * 1e-4f;
    if constexpr (std::is_same<T, float>::value)
      for (std::size_t i = 0; i < w.size(); ++i)
        w[i] = as_tf32(w[i]); // as the compiler rounds weights
    nnc::pack_conv2d_weights<weight>(s, w.data(), packed.data());
    if (checked)
      compute();
  }

  template <class E> static double number(E v) {
    if constexpr (std::is_same<E, float>::value)
      v = as_tf32(v);
    return static_cast<double>(static_cast<float>(v));
  }
  void compute() {
    const int channels = s.c / s.groups, filters = s.k / s.groups;
    const int terms = nnc::gemm_terms(s);
    std::vector<double> window(terms), factors(w.size());
    std::vector<bool> used(std::size_t(s.n) * s.h * s.w);
    for (int k = 0; k < s.k; ++k)
      for (int c = 0; c < channels; ++c)
        for (int tap = 0; tap < s.kh * s.kw; ++tap)
          factors[std::size_t(k) * terms + tap * channels + c] =
              number(w[(std::size_t(k) * channels + c) * s.kh * s.kw + tap]);
    for (int row = 0; row < nnc::gemm_rows(s); ++row)
      for (int g = 0; g < s.groups; ++g) {
        const int ow = row % s.ow, oh = row / s.ow % s.oh,
                  n = row / s.ow / s.oh;
        for (int r = 0; r < s.kh; ++r)
          for (int t = 0; t < s.kw; ++t) {
            const int i = oh * s.sh + r * s.dh - s.pt;
            const int j = ow * s.sw + t * s.dw - s.pl;
            const bool inside = i >= 0 && i < s.h && j >= 0 && j < s.w;
            const std::size_t pixel = (std::size_t(n) * s.h + i) * s.w + j;
            for (int c = 0; c < channels; ++c)
              window[(r * s.kw + t) * channels + c] =
                  inside ? number(x[pixel * s.c + g * channels + c]) : s.fill;
            if (inside)
              used[pixel] = true;
          }
        for (int f = 0; f < filters; ++f) {
          const int k = g * filters + f;
          double v = 0;
          for (int term = 0; term < terms; ++term)
            v += window[term] * factors[std::size_t(k) * terms + term];
          const std::size_t at = std::size_t(row) * s.k + k;
          if constexpr (is_float)
            want[at] = std::fmax(
                v + bias[k] +
                    static_cast<double>(static_cast<float>(residual[at])),
                0.0);
          else
            want[at] = gemm_requantize()(static_cast<std::int32_t>(v), bias[k]);
        }
      }
    // No sum contains a pixel that no window does, not even times zero.
    if constexpr (is_float)
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!used[i / s.c])
          x[i] = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
};

struct gemm_result {
  std::string error;
  std::vector<unsigned char> bytes; ///< of the output
  double relative = 0;              ///< error in the L2 norm
  long bank_conflicts = 0;
};

/// The kernel implicit_gemm with the size of its blocks.
template <class T, class Tile, bool WHOLE_CHUNKS, class S>
struct gemm_block : nnc::implicit_gemm<T, Tile, WHOLE_CHUNKS, S> {
  static constexpr int threads = Tile::threads,
                       shared_bytes = Tile::shared_bytes;
};

/// Runs the kernel with sums in `slices` slices. S is a run-time shape, or has
/// the constants of the case's.
template <class T, class Tile, bool WHOLE_CHUNKS, int ARCH,
          class S = nnc::conv2d_shape>
gemm_result run_gemm(const gemm_case<T> &c, int slices, std::uint64_t seed) {
  const S s = [&] {
    if constexpr (std::is_same<S, nnc::conv2d_shape>::value)
      return c.s;
    else
      return S{};
  }();
  using sum = typename gemm_case<T>::sum;
  using result_type = typename gemm_case<T>::weight;
  // The residual lies in the output's memory.
  device_memory<result_type> y(c.want.size());
  std::memcpy(static_cast<void *>(y.data()), c.residual.data(), y.bytes());
  kernel_grid<ARCH> grid(seed);
  grid.may_read(c.x.data(), c.x.bytes());
  grid.may_read_constant(c.packed.data(), c.packed.bytes());
  const auto output = [&] {
    if constexpr (gemm_case<T>::is_float) {
      using epilogue = nnc::fused<gemm_bias_residual_relu,
                                  nnc::channel_of<float>, nnc::full_of<T>>;
      return nnc::finished_sums<result_type, epilogue>{
          y.data(), epilogue(c.bias.data(), y.data())};
    } else {
      using epilogue = nnc::fused<gemm_requantize, nnc::channel_of<float>>;
      return nnc::finished_sums<result_type, epilogue>{y.data(),
                                                       epilogue(c.bias.data())};
    }
  }();
  using kernel = gemm_block<T, Tile, WHOLE_CHUNKS, S>;
  const nnc::grid_size blocks{nnc::gemm_blocks<Tile>(s), s.groups, slices};
  const T *const from = c.x.data();
  const unsigned char *const weights = c.packed.data();
  gemm_result result;
  grid.may_read_constant(c.bias.data(), c.bias.bytes());
  grid.may_write(y.data(), y.bytes());
  if (slices == 1) {
    result.error =
        grid.template run<kernel>(blocks, s, from, weights, output, slices);
  } else {
    device_memory<sum> partial(c.want.size() * slices);
    device_memory<std::uint32_t> counters(
        nnc::gemm_counters<Tile, 2>::counters(s));
    std::memset(counters.data(), 0, counters.bytes());
    grid.may_write(partial.data(), partial.bytes());
    grid.may_write(counters.data(), counters.bytes());
    const nnc::sliced_sums<sum, std::decay_t<decltype(output)>> sliced{
        {partial.data()}, counters.data(), output};
    result.error =
        grid.template run<kernel>(blocks, s, from, weights, sliced, slices);
  }
  result.bank_conflicts = grid.bank_conflicts();
  double off = 0, size = 0;
  for (std::size_t i = 0; i < c.want.size(); ++i) {
    const double got = static_cast<double>(static_cast<float>(y[i]));
    off += (got - c.want[i]) * (got - c.want[i]);
    size += c.want[i] * c.want[i];
  }
  result.relative = off == 0 ? 0 : std::sqrt(off / size);
  const auto *first = reinterpret_cast<const unsigned char *>(y.data());
  result.bytes.assign(first, first + y.bytes());
  return result;
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_GEMM_CASE_H
