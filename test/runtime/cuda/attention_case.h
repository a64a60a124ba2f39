// Runs the attention of flash.cuh on the CPU's block policy, and the same in
// double precision.
#ifndef NNC_TEST_CUDA_ATTENTION_CASE_H
#define NNC_TEST_CUDA_ATTENTION_CASE_H

#include "runtime/epilogue.h"
#include "runtime/routines/attention/flash_plan.h"
#include "runtime/routines/attention/shape.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "test/runtime/cuda/device_memory.h"
#include "test/runtime/cuda/kernel_grid.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace nnc_test {

/// An attention with its operands of type T, and its exact result. M is the
/// type of the mask's elements, or void.
template <class T, class M> struct attention_case {
  static constexpr bool masked = !std::is_void<M>::value;
  using mask_element = std::conditional_t<masked, M, float>;

  nnc::attention_shape s;
  int mask_start; ///< elements before the mask, to move it off its alignment
  device_memory<T> q, k, v;
  device_memory<mask_element> mask;
  std::vector<double> want;      ///< y
  std::vector<double> magnitude; ///< the same with absolute values of v
  std::vector<double> rounding;  ///< bound of each row's relative error

  /// Elements of q and k have magnitudes up to `size`. Elements between rows
  /// are NaN.
  attention_case(const nnc::attention_shape &s, unsigned seed, float size = 1,
                 int mask_start = 0)
      : s(s), mask_start(mask_start),
        q(s.q_start + extent(s.q_strides, s.queries, s.dim)),
        k(s.k_start + extent(s.k_strides, s.keys, s.dim)),
        v(s.v_start + extent(s.v_strides, s.keys, s.value_dim)),
        mask(masked ? mask_start + extent(s.mask_strides, s.queries, s.keys)
                    : 0) {
    std::mt19937 engine(seed);
    const auto fill = [&](const auto &to, int start, const int(&strides)[3],
                          int rows, int columns, float most) {
      each_row(strides, rows, [&](int at) {
        for (int c = 0; c < columns; ++c)
          to[start + at + c] = most * (int(engine() % 2001) - 1000) / 1000.0f;
      });
    };
    fill(q, s.q_start, s.q_strides, s.queries, s.dim, size);
    fill(k, s.k_start, s.k_strides, s.keys, s.dim, size);
    fill(v, s.v_start, s.v_strides, s.keys, s.value_dim, 1);
    if (!masked)
      return;
    fill(mask, mask_start, s.mask_strides, s.queries, s.keys, 2);
    hide_keys(engine);
  }

  /// Row (b, h, i) of q, k, v or the mask begins at the result.
  int row(const int (&strides)[3], int b, int h, int i) const {
    return b * strides[0] + h * strides[1] + i * strides[2];
  }
  void solve() {
    want.clear();
    magnitude.clear();
    rounding.clear();
    for (int b = 0; b < s.n; ++b)
      for (int i = 0; i < s.queries; ++i)
        for (int h = 0; h < s.heads; ++h)
          solve_row(b, i, h);
  }

private:
  /// The largest relative error of a row whose scores are sums of parts of up
  /// to `size`: that of a score is that of its weight.
  double bound(double size) const {
    if (std::is_same<T, nnc::f16>::value)
      return 2e-3;
    if (std::is_same<T, nnc::bf16>::value)
      return 1.6e-2;
    return 0x1p-23 * (4 * std::sqrt(double(s.keys)) + 8 +
                      4 * std::sqrt(double(s.dim)) * size);
  }
  int extent(const int (&strides)[3], int rows, int size) const {
    return row(strides, s.n - 1, s.heads - 1, rows - 1) + size;
  }
  template <class F>
  void each_row(const int (&strides)[3], int rows, F f) const {
    for (int b = 0; b < s.n; ++b)
      for (int h = 0; h < s.heads; ++h)
        for (int i = 0; i < rows; ++i)
          f(row(strides, b, h, i));
  }
  /// Gives masks hidden keys of all kinds: some, all before or behind one, or
  /// all.
  void hide_keys(std::mt19937 &engine) {
    each_row(s.mask_strides, s.queries, [&](int at) {
      const unsigned kind = engine() % 8;
      const int border = int(engine() % (s.keys + 1));
      const float hidden[] = {
          -HUGE_VALF, -HUGE_VALF, -10000,
          std::is_same<mask_element, float>::value ? -3.40282347e38f : -65504};
      const float value = hidden[engine() % 4];
      for (int j = 0; j < s.keys; ++j)
        if (kind < 2
                ? engine() % 2 == 0
                : (kind == 2 && j >= border) || (kind == 3 && j < border) ||
                      (kind == 4 && engine() % 8 == 0))
          mask[mask_start + at + j] = value;
    });
  }
  void solve_row(int b, int i, int h) {
    std::vector<double> weight(s.keys), size(s.keys);
    double largest = -HUGE_VAL, total = 0;
    for (int j = 0; j < s.keys; ++j) {
      const int from = s.q_start + row(s.q_strides, b, h, i);
      const int to = s.k_start + row(s.k_strides, b, h, j);
      double sum = 0;
      for (int c = 0; c < s.dim; ++c) {
        const double product =
            double(float(q[from + c])) * double(float(k[to + c]));
        sum += product;
        size[j] += std::fabs(double(s.scale) * product);
      }
      weight[j] = double(s.scale) * sum;
      if (masked) {
        const double added =
            double(float(mask[mask_start + row(s.mask_strides, b, h, i) + j]));
        weight[j] += added;
        size[j] += added < -1e30 ? 0 : std::fabs(added);
      }
      largest = std::max(largest, weight[j]);
    }
    for (double &w : weight)
      total += w = std::exp(w - largest);
    double most = 0; // of the parts of a score that counts
    for (int j = 0; j < s.keys; ++j)
      most = weight[j] > 1e-12 ? std::max(most, size[j]) : most;
    rounding.push_back(bound(most));
    for (int c = 0; c < s.value_dim; ++c) {
      double sum = 0, sizes = 0;
      for (int j = 0; j < s.keys; ++j) {
        const double value =
            double(float(v[s.v_start + row(s.v_strides, b, h, j) + c]));
        sum += weight[j] / total * value;
        sizes += weight[j] / total * std::fabs(value);
      }
      want.push_back(sum);
      magnitude.push_back(sizes);
    }
  }
};

struct attention_result {
  std::string error; ///< of the policy, or of a result
  std::vector<unsigned char> bytes;
  /// The largest error of a row in the L2 norm, or that of all, as a share of
  /// what is allowed. The former is relative to sums of magnitudes.
  double off = 0;
  long bank_conflicts = 0;
};

template <class> struct only_kernel;
template <class K> struct only_kernel<nnc::kernel_list<K>> {
  using type = K;
};

/// Compares y with what is expected.
template <class T, class M>
void compare(const attention_case<T, M> &c, const device_memory<T> &y,
             attention_result &result) {
  double off = 0, size = 0, allowed = 0;
  const std::size_t columns = c.s.value_dim;
  for (std::size_t row = 0; row < c.rounding.size(); ++row) {
    double row_off = 0, row_size = 0;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) {
      const double got = double(float(y[i])), want = c.want[i];
      if (std::isnan(got) != std::isnan(want))
        result.error = "element " + std::to_string(i) + " is " +
                       std::to_string(got) + ", expected " +
                       std::to_string(want);
      if (std::isnan(want) || got == want)
        continue;
      row_off += (got - want) * (got - want);
      // Small weights of halves are rounded to multiples of 2^-24.
      const double most =
          c.magnitude[i] + (sizeof(T) == 2 ? 1e-5 * c.s.keys : 1e-30);
      row_size += most * most;
      size += want * want;
    }
    off += row_off;
    const double bound = c.rounding[row];
    allowed = std::max(allowed, bound);
    if (row_off != 0)
      result.off = std::max(result.off, std::sqrt(row_off / row_size) / bound);
  }
  // Sums of floats may be small where their terms are not.
  if (off != 0 && sizeof(T) == 2)
    result.off = std::max(result.off, std::sqrt(off / size) / allowed);
}

/// Runs an attention routine on the CPU's block policy, as architecture ARCH
/// and with threads in the order that `seed` gives, and compares its result
/// with the case's. `s` is the shape of the case: an attention_shape, or a
/// struct with the same sizes as constants.
template <class Routine, int ARCH, class S, class T, class M>
attention_result run_attention(const attention_case<T, M> &c, const S &s,
                               std::uint64_t seed) {
  using kernel = typename only_kernel<typename Routine::kernels>::type;
  static_assert(ARCH >= Routine::arch, "it has the instructions");
  device_memory<T> y(c.want.size());
  kernel_grid<ARCH> grid(seed);
  grid.may_read(c.q.data(), c.q.bytes());
  grid.may_read(c.k.data(), c.k.bytes());
  grid.may_read(c.v.data(), c.v.bytes());
  grid.may_read(c.mask.data(), c.mask.bytes());
  grid.may_write(y.data(), y.bytes());
  attention_result result;
  const T *const q = c.q.data(), *const k = c.k.data(), *const v = c.v.data();
  if constexpr (attention_case<T, M>::masked) {
    const M *const mask = c.mask.data() + c.mask_start;
    result.error = grid.template run<kernel>(kernel::grid(s), s, q, k, v, mask,
                                             y.data(), nnc::none{});
  } else {
    result.error = grid.template run<kernel>(kernel::grid(s), s, q, k, v,
                                             y.data(), nnc::none{});
  }
  result.bank_conflicts = grid.bank_conflicts();
  if (result.error.empty())
    compare(c, y, result);
  const auto *first = reinterpret_cast<const unsigned char *>(y.data());
  result.bytes.assign(first, first + y.bytes());
  return result;
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_ATTENTION_CASE_H
