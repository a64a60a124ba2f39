//===- helium.h - Matrix products of bytes with Arm's M-profile vectors ---===//
//
// The product of matmul/portable.h of rows of i8 and a constant matrix of i8,
// whose columns follow each other: b[n][k]. A unit is a row of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_HELIUM_H
#define NNC_ROUTINES_MATRIX_MATMUL_HELIUM_H

#include "runtime/routines/microcontrollers/helium_output.h"
#include "runtime/routines/microcontrollers/helium_products.h"

namespace nnc {

/// Number of sums that are stored at once.
constexpr int helium_columns = 16;

/// Computes the sums of one or two rows of a and `count` columns w of b:
/// sums[row][helium_columns]. Two rows share the loads of b.
NNC_NOINLINE inline void helium_multiply_some(const int8_t *a, int rows,
                                              const int8_t *w, int count, int k,
                                              int32_t *sums) {
  if (rows == 2)
    return helium_multiply_two(a, a + k, w, count, k, sums, helium_columns);
  for (int i = 0; i < count; i += 4)
    helium_multiply_row(a, w + i * k, count - i, k, sums + i);
}

/// Computes rows [unit, end) of y and stores their sums with `out`.
template <class Out>
NNC_NOINLINE void helium_multiply_rows(const int8_t *a, const int8_t *b, int k,
                                       int n, int unit, int end,
                                       const Out &out) {
  int32_t sums[2 * helium_columns];
  for (int rows = 0; unit < end; unit += rows) {
    rows = end - unit < 2 ? 1 : 2;
    for (int j = 0, count = 0; j < n; j += count) {
      count = n - j < helium_columns ? n - j : helium_columns;
      helium_multiply_some(a + ptrdiff_t(unit) * k, rows, b + j * k, count, k,
                           sums);
      for (int i = 0; i < rows; ++i)
        out.store(sums + i * helium_columns, j, count,
                  ptrdiff_t(unit + i) * n + j);
    }
  }
}

template <class S, class Epi> struct matmul_i32_helium {
  static constexpr int units(const S &s) { return s.batch * s.m; }

  template <class Y>
  static void run(const S &s, const int8_t *a, const int8_t *b, Y *y,
                  const Epi &epi, int begin, int end) {
    helium_multiply_rows(a, b, s.k, s.n, begin, end,
                         make_helium_output<has_whole_vectors(&S::n)>(epi, y));
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_HELIUM_H
