//===- dsp.h - Matrix products of bytes with Arm's DSP extension ----------===//
//
// The product of matmul/portable.h of rows of i8 and a constant matrix of i8,
// which is stored as b[n / 4][k / 4][4 n][4 k]. A unit is a row of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_DSP_H
#define NNC_ROUTINES_MATRIX_MATMUL_DSP_H

#include "runtime/epilogue.h"
#include "runtime/routines/microcontrollers/dsp_products.h"

namespace nnc {

template <class S, class Epi> struct matmul_i32_armdsp {
  static constexpr int units(const S &s) { return s.batch * s.m; }

  template <class Y>
  static void run(const S &s, const int8_t *a, const int8_t *b, Y *y,
                  const Epi &epi, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int8_t *w = b;
      const ptrdiff_t at = ptrdiff_t(unit) * s.n;
      for (int j = 0; j < s.n; j += 4) {
        int32_t sums[4];
        w = dsp_multiply_row(a + ptrdiff_t(unit) * s.k, w, s.k / 4, sums);
        dsp_store(epi, sums, j, s.n - j < 4 ? s.n - j : 4, y, at + j);
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_DSP_H
