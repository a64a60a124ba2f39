// Runs the attention of flash.cuh on the CPU's block policy, and the same in
// double precision.
#ifndef NNC_TEST_CUDA_ATTENTION_CASE_H
#define NNC_TEST_CUDA_ATTENTION_CASE_H

#include "runtime/cuda/host_block.h"
#include "runtime/epilogue.h"
#include "runtime/routines/attention/flash.cuh"
#include "runtime/routines/attention/shape.h"
#include "test/runtime/cuda/device_memory.h"

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
    for (int b = 0; b < s.n; ++b)
      for (int i = 0; i < s.queries; ++i)
        for (int h = 0; h < s.heads; ++h)
          solve_row(b, i, h);
  }

private:
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
    std::vector<double> weight(s.keys);
    double largest = -HUGE_VAL, total = 0;
    for (int j = 0; j < s.keys; ++j) {
      const int from = s.q_start + row(s.q_strides, b, h, i);
      const int to = s.k_start + row(s.k_strides, b, h, j);
      double sum = 0;
      for (int c = 0; c < s.dim; ++c)
        sum += double(float(q[from + c])) * double(float(k[to + c]));
      weight[j] = double(s.scale) * sum;
      if (masked)
        weight[j] +=
            double(float(mask[mask_start + row(s.mask_strides, b, h, i) + j]));
      largest = std::max(largest, weight[j]);
    }
    for (double &w : weight)
      total += w = std::exp(w - largest);
    for (int c = 0; c < s.value_dim; ++c) {
      double sum = 0, size = 0;
      for (int j = 0; j < s.keys; ++j) {
        const double value =
            double(float(v[s.v_start + row(s.v_strides, b, h, j) + c]));
        sum += weight[j] / total * value;
        size += weight[j] / total * std::fabs(value);
      }
      want.push_back(sum);
      magnitude.push_back(size);
    }
  }
};

struct attention_result {
  std::string error; ///< of the policy, or of a result
  std::vector<unsigned char> bytes;
  double relative = 0;     ///< error of finite results in the L2 norm
  double row_relative = 0; ///< of the worst row, to its magnitudes
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
  double off = 0, size = 0;
  const std::size_t columns = c.s.value_dim;
  for (std::size_t row = 0; row < c.want.size(); row += columns) {
    double row_off = 0, row_size = 0;
    for (std::size_t i = row; i < row + columns; ++i) {
      const double got = double(float(y[i])), want = c.want[i];
      if (std::isnan(got) != std::isnan(want))
        result.error = "element " + std::to_string(i) + " is " +
                       std::to_string(got) + ", expected " +
                       std::to_string(want);
      if (std::isnan(want) || got == want)
        continue;
      row_off += (got - want) * (got - want);
      // Weights below 2^-24 are rounded to 0 or to that.
      const double most = c.magnitude[i] + 1e-5 * c.s.keys;
      row_size += most * most;
      size += want * want;
    }
    off += row_off;
    if (row_off != 0)
      result.row_relative =
          std::max(result.row_relative, std::sqrt(row_off / row_size));
  }
  result.relative = off == 0 ? 0 : std::sqrt(off / size);
}

/// Runs a routine. Its shape is a run-time shape, or has the case's constants.
template <class Routine, int ARCH, class S, class T, class M>
attention_result run_attention(const attention_case<T, M> &c, const S &s,
                               std::uint64_t seed) {
  using kernel = typename only_kernel<typename Routine::kernels>::type;
  static_assert(ARCH >= Routine::arch, "it has the instructions");
  device_memory<T> y(c.want.size());
  nnc::host_grid<ARCH> grid(seed);
  grid.may_read(c.q.data(), c.q.bytes());
  grid.may_read(c.k.data(), c.k.bytes());
  grid.may_read(c.v.data(), c.v.bytes());
  grid.may_read(c.mask.data(), c.mask.bytes());
  grid.may_write(y.data(), y.bytes());
  attention_result result;
  result.error = grid.launch(
      kernel::grid(s), kernel::threads, kernel::shared_bytes, [&](auto &b) {
        if constexpr (attention_case<T, M>::masked)
          kernel::run(b, s, c.q.data(), c.k.data(), c.v.data(),
                      c.mask.data() + c.mask_start, y.data(), nnc::none{});
        else
          kernel::run(b, s, c.q.data(), c.k.data(), c.v.data(), y.data(),
                      nnc::none{});
      });
  result.bank_conflicts = grid.bank_conflicts();
  if (result.error.empty())
    compare(c, y, result);
  const auto *first = reinterpret_cast<const unsigned char *>(y.data());
  result.bytes.assign(first, first + y.bytes());
  return result;
}

} // namespace nnc_test

#endif // NNC_TEST_CUDA_ATTENTION_CASE_H
