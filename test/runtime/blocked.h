// Tensors in blocked layouts, for tests of the routines that read them.
#ifndef NNC_TEST_BLOCKED_H
#define NNC_TEST_BLOCKED_H

#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"
#include "test/runtime/widths.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace nnc_test {

using floats = std::vector<float>;

/// A generator of random integers and floats that gives the same sequence in
/// every run.
struct random_source {
  std::mt19937 engine{12345};
  int between(int low, int high) {
    return low + static_cast<int>(engine() % (high - low + 1));
  }
  NNC_NOINLINE floats values(std::size_t count) {
    floats v(count);
    for (float &f : v)
      f = (static_cast<int>(engine() % 2001) - 1000) / 1000.0f;
    return v;
  }
};

NNC_NOINLINE inline floats magnitudes(floats v) {
  for (float &f : v)
    f = std::fabs(f);
  return v;
}

NNC_NOINLINE inline floats not_written(std::size_t count) {
  return floats(count, std::numeric_limits<float>::quiet_NaN());
}

/// Convert floats to elements of type T in memory, and back.
template <class T> NNC_NOINLINE std::vector<T> store_all(const floats &x) {
  return std::vector<T>(x.begin(), x.end());
}
template <class T> NNC_NOINLINE floats load_all(const std::vector<T> &x) {
  return floats(x.begin(), x.end());
}
/// Returns x rounded to values that T can hold.
template <class T> NNC_NOINLINE floats rounded(const floats &x) {
  return load_all(store_all<T>(x));
}

/// Returns the largest error of rounding a value of magnitude `size` to T, of
/// 11 or 8 bits. It is 0 for float, whose error the other bounds contain.
template <class T> float rounding_error(float size) {
  return std::is_same<T, float>::value       ? 0.0f
         : std::is_same<T, nnc::bf16>::value ? 0x1p-8f * size
                                             : 0x1p-11f * size + 0x1p-25f;
}

/// Returns the largest allowed error of a sum of `terms` products, whose
/// magnitudes sum up to `size`, plus a bias and a residual of up to 1, if the
/// sum is computed and stored in the precision of T. Halves have 11 bits, and
/// sums of halves are computed in parts. Sums of bf16 are floats, which are
/// rounded to 8 bits.
template <class T> float error_bound(float terms, float size) {
  const float epsilon = std::numeric_limits<float>::epsilon();
  const float of_floats = 4 * std::sqrt(terms) * epsilon * size + 4 * epsilon;
  return std::is_same<T, float>::value       ? of_floats
         : std::is_same<T, nnc::bf16>::value ? of_floats + 0x1p-8f * (size + 2)
                                             : 0x1p-9f * (size + 2);
}

/// Returns the largest allowed error that a method has in addition to
/// error_bound() for sums of `terms` products. `error` is the column ERROR of
/// the routine's line: the root mean square for sums of products of values up
/// to 1, of which the largest of many errors is up to ten times as large. For
/// halves it is 2^13 times as large.
template <class T> float method_bound(double error, float terms) {
  const double unit = std::is_same<T, float>::value ? 1 : 0x1p13;
  return float(10 * unit * error * std::sqrt(double(terms)) / 3);
}

inline int blocks(int channels, int w) { return (channels + w - 1) / w; }

/// Returns a tensor in NCHW as NCHW<w>c, with `padding` in padded lanes.
NNC_NOINLINE inline floats block_channels(const floats &x, int n, int c,
                                          int plane, int w,
                                          float padding = 0.0f) {
  floats y(std::size_t(n) * blocks(c, w) * plane * w, padding);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < c; ++j)
      for (int p = 0; p < plane; ++p)
        y[((std::size_t(i) * blocks(c, w) + j / w) * plane + p) * w + j % w] =
            x[(std::size_t(i) * c + j) * plane + p];
  return y;
}

/// Returns a tensor in NCHW<w>c as NCHW, or NaN everywhere if a padded lane is
/// not zero.
NNC_NOINLINE inline floats unblock_channels(const floats &y, int n, int c,
                                            int plane, int w) {
  floats x(std::size_t(n) * c * plane);
  const int padded = blocks(c, w) * w;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < padded; ++j)
      for (int p = 0; p < plane; ++p) {
        const float v =
            y[((std::size_t(i) * blocks(c, w) + j / w) * plane + p) * w +
              j % w];
        if (j < c)
          x[(std::size_t(i) * c + j) * plane + p] = v;
        else if (v != 0.0f)
          return not_written(x.size());
      }
  return x;
}

/// Returns weights in KCRS, with k = groups * outs and c = ins, as
/// KCRS<wc>c<w>k, with padding in each group. With wc = 1, input channels are
/// not blocked: KCRS<w>k.
NNC_NOINLINE inline floats block_weights(const floats &x, int groups, int outs,
                                         int ins, int taps, int wc, int w) {
  const int kb = blocks(outs, w), cb = blocks(ins, wc);
  floats y(std::size_t(groups) * kb * cb * taps * wc * w, 0.0f);
  for (int g = 0; g < groups; ++g)
    for (int k = 0; k < outs; ++k)
      for (int c = 0; c < ins; ++c)
        for (int t = 0; t < taps; ++t)
          y[((((std::size_t(g) * kb + k / w) * cb + c / wc) * taps + t) * wc +
             c % wc) *
                w +
            k % w] = x[((std::size_t(g) * outs + k) * ins + c) * taps + t];
  return y;
}

/// Returns a matrix [k][n] as panels of w columns, NK<w>n.
NNC_NOINLINE inline floats block_columns(const floats &b, int k, int n, int w) {
  floats y(std::size_t(blocks(n, w)) * k * w, 0.0f);
  for (int i = 0; i < k; ++i)
    for (int j = 0; j < n; ++j)
      y[(std::size_t(j / w) * k + i) * w + j % w] = b[std::size_t(i) * n + j];
  return y;
}

/// A bias, a residual and a ReLU, like the epilogue of a layer.
struct bias_residual_relu {
  template <class V> NNC_FN V operator()(V x, V bias, V residual) const {
    return nnc::max_fast(x + bias + residual, V(0.0f));
  }
};

/// The largest number of threads for which tests give scratch.
constexpr int most_threads = 16;

/// Calls run(begin, end) for all units in three parts, the middle one first,
/// like threads that finish in any order.
template <class F> void in_parts(int units, F run) {
  const int third = units / 3;
  const int parts[][2] = {{third, 2 * third}, {0, third}, {2 * third, units}};
  for (const auto &part : parts)
    if (part[0] < part[1])
      run(part[0], part[1]);
}

} // namespace nnc_test

#endif // NNC_TEST_BLOCKED_H
