//===- portable.h - Matrix product on any machine; the reference ----------===//
//
// y[i][m][n] = epi(sum over k of a[i][m][k] * b[i][k][n]), row-major; with
// transpose_a the matrix a is stored as [k][m], with transpose_b the matrix b
// as [n][k]. Batch strides are in elements, 0 where all products share one
// matrix. A unit is a row of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PORTABLE_H
#define NNC_ROUTINES_MATRIX_MATMUL_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/thumb_products.h"
#include "runtime/simd/wrap.h"

namespace nnc {

/// Sums are of type Sum: float, double or an integer, whose sums wrap; void
/// stands for the type of a's elements. Elements are converted to Sum first. Y
/// is the result type of the epilogue on a sum. Sums of double take no
/// epilogue. A unit is a row of y, or with ByElement an element.
template <class Sum, class S, class Epi, bool ByElement = false>
struct matmul_of_sums {
  using by_element = matmul_of_sums<Sum, S, Epi, true>;

  NNC_FN static constexpr int units(const S &s) {
    return s.batch * s.m * pieces(s);
  }

  template <class A, class B, class Y>
  NNC_FN static void run(const S &s, const A *a, const B *b, Y *y,
                         const Epi &epi, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int line = unit / pieces(s), row = line % s.m;
      const ptrdiff_t batch = line / s.m;
      const A *left = a + batch * s.a_batch_stride +
                      ptrdiff_t(row) * (s.transpose_a ? 1 : s.k);
      const B *right = b + batch * s.b_batch_stride;
      if constexpr (ByElement)
        run_tile(s, left, right, y, epi, line, unit % s.n);
      else
        for (int n = 0; n < s.n; n += tile)
          run_tile(s, left, right, y, epi, line, n);
    }
  }

private:
  static constexpr int tile = ByElement ? 1 : 64;

  /// Units of a row of y.
  NNC_FN static constexpr int pieces(const S &s) { return ByElement ? s.n : 1; }

  template <class A, class B, class Y>
  NNC_FN static void run_tile(const S &s, const A *a, const B *b, Y *y,
                              const Epi &epi, int unit, int n0) {
    using T = conditional_t<is_void<Sum>::value, A, Sum>;
    const int width = s.n - n0 < tile ? s.n - n0 : tile;
    const ptrdiff_t step = s.transpose_a ? s.m : 1;
    T sum[size_t(tile)] = {};
    int from = 0; // columns before this one have their sums
#if NNC_THUMB_PRODUCTS
    if constexpr (!ByElement && is_same<A, int8_t>::value &&
                  is_same<B, int8_t>::value && is_same<T, int32_t>::value)
      for (; from + 4 <= width && (!s.transpose_b || step == 1); from += 4) {
        int32_t *four = sum + from;
        if (s.transpose_b)
          thumb_add_rows(a, b + ptrdiff_t(n0 + from) * s.k, s.k, s.k, four);
        else
          thumb_add_columns(a, int(step), b + n0 + from, s.n, s.k, four);
      }
#endif
    T *others = sum + from;
    const int first = n0 + from, rest = width - from;
    for (int k = 0; k < s.k && rest > 0; ++k) {
      const T v = static_cast<T>(a[k * step]);
      if (s.transpose_b) {
        for (int j = 0; j < rest; ++j)
          others[j] =
              plus(others[j],
                   times(v, static_cast<T>(b[ptrdiff_t(first + j) * s.k + k])));
      } else {
        const B *row = b + ptrdiff_t(k) * s.n + first;
        for (int j = 0; j < rest; ++j)
          others[j] = plus(others[j], times(v, static_cast<T>(row[j])));
      }
    }
    const ptrdiff_t at = ptrdiff_t(unit) * s.n + n0;
    for (int j = 0; j < width; ++j)
      y[at + j] = epi(sum[j], position<true>{at + j, n0 + j});
  }
};

template <class S, class Epi>
using matmul_portable = matmul_of_sums<void, S, Epi>;
template <class S, class Epi>
using matmul_i32_portable = matmul_of_sums<int32_t, S, Epi>;
template <class S, class Epi>
using matmul_i64_portable = matmul_of_sums<int64_t, S, Epi>;

/// Floats of 16 bits on a GPU, whose sums are floats.
template <class S, class Epi>
using matmul_bf16_units_sm80 = matmul_of_sums<float, S, Epi>;
template <class S, class Epi>
using matmul_f16_units_sm75 = matmul_of_sums<float, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PORTABLE_H
