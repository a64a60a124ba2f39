// Operands of a batch of matrix products, and their sums in double precision.
#ifndef NNC_TEST_CUDA_PRODUCT_CASE_H
#define NNC_TEST_CUDA_PRODUCT_CASE_H

#include "runtime/routines/matrix/matmul/plain_gemm.cuh"
#include "runtime/routines/matrix/matmul/shape.h"
#include "test/runtime/cuda/float_case.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace nnc_test {

/// The number of elements from the first one of an operand to behind its last
/// one, of which each matrix has `size`.
inline std::size_t operand_length(int batch, int stride, int size) {
  return std::size_t(batch - 1) * stride + size;
}

/// A batch of products with its operands, and its exact result. Elements of
/// the operands that belong to no matrix are NaN.
template <class T> struct product_case {
  nnc::matmul_shape s;
  bool tf32; ///< whether operands are rounded to tf32
  device_memory<T> a, b, residual;
  device_memory<float> bias;
  std::vector<double> want, size; ///< and the sums of the magnitudes

  product_case(const nnc::matmul_shape &s, unsigned seed, bool tf32 = false)
      : s(s), tf32(tf32),
        a(operand_length(s.batch, s.a_batch_stride, s.m * s.k)),
        b(operand_length(s.batch, s.b_batch_stride, s.n * s.k)),
        residual(std::size_t(s.batch) * s.m * s.n), bias(s.n),
        want(residual.size()), size(residual.size()) {
    std::mt19937 engine(seed);
    const auto number = [&] { return (int(engine() % 2001) - 1000) / 1000.0f; };
    for (int i = 0; i < s.batch; ++i) {
      for (int j = 0; j < s.m * s.k; ++j)
        a[std::size_t(i) * s.a_batch_stride + j] = T(number());
      for (int j = 0; j < s.n * s.k; ++j)
        b[std::size_t(i) * s.b_batch_stride + j] = T(number());
    }
    for (std::size_t i = 0; i < residual.size(); ++i)
      residual[i] = T(number());
    for (std::size_t i = 0; i < bias.size(); ++i)
      bias[i] = number();
    compute();
  }

  /// Returns the first wrong result as text, or an empty string. The error is
  /// that of a plain sum of floats, and that of rounding to T.
  std::string wrong(const device_memory<T> &y) const {
    const double epsilon = 0x1p-23;
    const double unit = rounding_unit<T>;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double got = double_of(y[i]);
      const double most = 4 * std::sqrt(double(s.k + 1)) * epsilon * size[i] +
                          unit * (std::fabs(want[i]) + 0x1p-13);
      if (!(std::fabs(got - want[i]) <= most))
        return "result " + std::to_string(i) + " is " + std::to_string(got) +
               ", not " + std::to_string(want[i]);
    }
    return "";
  }

private:
  static double double_of(T v) {
    return static_cast<double>(static_cast<float>(v));
  }
  double factor(T v) const {
    return tf32 ? static_cast<double>(as_tf32(v)) : double_of(v);
  }
  void compute() {
    std::vector<double> left(s.k);
    for (int i = 0; i < s.batch; ++i)
      for (int m = 0; m < s.m; ++m) {
        const T *x = a.data() + std::size_t(i) * s.a_batch_stride;
        const T *w = b.data() + std::size_t(i) * s.b_batch_stride;
        for (int k = 0; k < s.k; ++k)
          left[k] = factor(s.transpose_a ? x[k * s.m + m] : x[m * s.k + k]);
        for (int n = 0; n < s.n; ++n) {
          const std::size_t at = (std::size_t(i) * s.m + m) * s.n + n;
          want[at] = static_cast<double>(bias[n]) + double_of(residual[at]);
          size[at] = 2;
          for (int k = 0; k < s.k; ++k) {
            const double v = left[k] * factor(s.transpose_b ? w[n * s.k + k]
                                                            : w[k * s.n + n]);
            want[at] += v;
            size[at] += std::fabs(v);
          }
        }
      }
  }
};

struct product_result {
  std::string error; ///< of the policy, or a wrong result
  std::vector<unsigned char> bytes;
  long bank_conflicts = 0;
};

/// Runs the kernel of a routine for the shape s, which is that of the case as
/// the type that the kernel takes. The residual lies in the memory of the
/// results.
template <int ARCH, class K, class T, class S>
product_result run_product(nnc::kernel_list<K>, const product_case<T> &c,
                           const S &s, int slices, std::uint64_t seed) {
  device_memory<T> y(c.want.size());
  std::memcpy(static_cast<void *>(y.data()), c.residual.data(), y.bytes());
  const float_epilogue<T> epi(c.bias.data(), y.data());
  product_result result;
  kernel_grid<ARCH> grid(seed);
  grid.may_read(c.a.data(), c.a.bytes());
  grid.may_read(c.b.data(), c.b.bytes());
  grid.may_read_constant(c.bias.data(), c.bias.bytes());
  grid.may_write(y.data(), y.bytes());
  const T *const a = c.a.data(), *const b = c.b.data();
  const auto launch = [&](const auto &...arguments) {
    result.error =
        grid.template run<K>(K::grid(s), s, a, b, y.data(), arguments...);
  };
  if constexpr (nnc::counts_blocks<K, S>) {
    device_memory<unsigned char> sums(c.want.size() * 4 * slices);
    device_memory<std::uint32_t> counters(K::counters(s));
    std::memset(counters.data(), 0, counters.bytes());
    grid.may_write(sums.data(), sums.bytes());
    grid.may_write(counters.data(), counters.bytes());
    launch(sums.data(), epi, counters.data());
  } else {
    launch(epi);
  }
  result.bank_conflicts = grid.bank_conflicts();
  if (result.error.empty())
    result.error = c.wrong(y);
  const auto *first = reinterpret_cast<const unsigned char *>(y.data());
  result.bytes.assign(first, first + y.bytes());
  return result;
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_PRODUCT_CASE_H
