// Convolutions whose weights are packed for a kernel.
#ifndef NNC_TEST_CUDA_PACKED_CASE_H
#define NNC_TEST_CUDA_PACKED_CASE_H

#include "test/runtime/cuda/gemm_case.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace nnc_test {

/// The epilogue of gemm_case.
template <class T>
using packed_epilogue =
    std::conditional_t<gemm_case<T>::is_float,
                       nnc::fused<gemm_bias_residual_relu,
                                  nnc::channel_of<float>, nnc::full_of<T>>,
                       nnc::fused<gemm_requantize, nnc::channel_of<float>>>;

/// A convolution with weights that a struct of the kernel's plan packs, and its
/// exact result. Floats have the bits that tf32 keeps, as gemm_case expects.
template <class T> struct packed_case : gemm_case<T> {
  using weight = typename gemm_case<T>::weight;
  device_memory<weight> stored;

  template <class Weights>
  packed_case(const nnc::conv2d_shape &s, const Weights &weights, unsigned seed)
      : gemm_case<T>(s, seed, false), stored(size_of(weights)) {
    if constexpr (std::is_same<T, float>::value) {
      round(this->x);
      round(this->w);
    }
    this->compute();
    const int channels = s.c / s.groups, taps = s.kh * s.kw;
    weight *next = stored.data();
    weights.visit(sizeof(T), [&](int filter, int tap, int channel) {
      const std::size_t row = std::size_t(filter) * channels + channel;
      *next++ = filter < 0 ? weight(0) : this->w[row * taps + tap];
    });
  }

private:
  template <class Weights> static std::size_t size_of(const Weights &weights) {
    std::size_t count = 0;
    weights.visit(sizeof(T), [&](int, int, int) { ++count; });
    return count;
  }
  static void round(const device_memory<T> &m) {
    for (std::size_t i = 0; i < m.size(); ++i)
      m[i] = as_tf32(m[i]);
  }
};

/// Runs the kernel of a routine on the input `x`.
template <int ARCH, class T, class X, class K>
gemm_result run_packed(nnc::kernel_list<K>, const packed_case<T> &c,
                       const device_memory<X> &x, int slices,
                       std::uint64_t seed) {
  using result_type = typename gemm_case<T>::weight;
  device_memory<result_type> y(c.want.size()); // the residual lies in it
  std::memcpy(static_cast<void *>(y.data()), c.residual.data(), y.bytes());
  const packed_epilogue<T> epi = [&] {
    if constexpr (gemm_case<T>::is_float)
      return packed_epilogue<T>(c.bias.data(), y.data());
    else
      return packed_epilogue<T>(c.bias.data());
  }();
  gemm_result result;
  kernel_grid<ARCH> grid(seed);
  grid.may_read(x.data(), x.bytes());
  grid.may_read_constant(c.stored.data(), c.stored.bytes());
  grid.may_read_constant(c.bias.data(), c.bias.bytes());
  grid.may_write(y.data(), y.bytes());
  const X *const from = x.data();
  const result_type *const weights = c.stored.data();
  const auto launch = [&](const auto &...arguments) {
    result.error = grid.template run<K>(K::grid(c.s), c.s, from, weights,
                                        y.data(), arguments...);
  };
  if constexpr (nnc::counts_blocks<K, nnc::conv2d_shape>) {
    device_memory<unsigned char> sums(std::size_t(slices) * c.want.size() * 4);
    device_memory<std::uint32_t> counters(K::counters(c.s));
    std::memset(counters.data(), 0, counters.bytes());
    grid.may_write(sums.data(), sums.bytes());
    grid.may_write(counters.data(), counters.bytes());
    launch(sums.data(), epi, counters.data());
  } else {
    launch(epi);
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

#endif // NNC_TEST_CUDA_PACKED_CASE_H
