//===- portable.h - Matrix product on any machine; the reference ----------===//
//
// y[i][m][n] = epi(sum over k of a[i][m][k] * b[i][k][n]), row-major; with
// transpose_a the matrix a is stored as [k][m], with transpose_b the matrix b
// as [n][k]. Batch strides are in elements, 0 where all products share one
// matrix. A unit is a row of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATMUL_PORTABLE_H
#define NNC_ROUTINES_MATMUL_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/simd/number.h"

namespace nnc {

template <class S, class Epi> struct matmul_portable {
  static constexpr int units(const S &s) { return s.batch * s.m; }

  /// T is float, double or an integer; only float takes an epilogue.
  template <class T>
  static void run(const S &s, const T *a, const T *b, T *y, const Epi &epi,
                  int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int row = unit % s.m;
      const std::ptrdiff_t batch = unit / s.m;
      const T *left = a + batch * s.a_batch_stride +
                      std::ptrdiff_t(row) * (s.transpose_a ? 1 : s.k);
      const T *right = b + batch * s.b_batch_stride;
      for (int n = 0; n < s.n; n += tile)
        run_tile(s, left, right, y, epi, unit, n);
    }
  }

private:
  static constexpr int tile = 64;

  template <class T>
  static void run_tile(const S &s, const T *a, const T *b, T *y, const Epi &epi,
                       int unit, int n0) {
    const int width = s.n - n0 < tile ? s.n - n0 : tile;
    const std::ptrdiff_t step = s.transpose_a ? s.m : 1;
    T sum[tile] = {};
    for (int k = 0; k < s.k; ++k) {
      const T v = a[k * step];
      if (s.transpose_b) {
        for (int j = 0; j < width; ++j)
          sum[j] = plus(sum[j], times(v, b[std::ptrdiff_t(n0 + j) * s.k + k]));
      } else {
        const T *row = b + std::ptrdiff_t(k) * s.n + n0;
        for (int j = 0; j < width; ++j)
          sum[j] = plus(sum[j], times(v, row[j]));
      }
    }
    const std::ptrdiff_t at = std::ptrdiff_t(unit) * s.n + n0;
    for (int j = 0; j < width; ++j)
      y[at + j] = epi(sum[j], position<true>{at + j, n0 + j});
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATMUL_PORTABLE_H
