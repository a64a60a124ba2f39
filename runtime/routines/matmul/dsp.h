//===- dsp.h - Matrix products of bytes with Arm's DSP extension ----------===//
//
// The product of matmul/portable.h of rows of i8 and a constant matrix of i8,
// which is stored as b[n / 4][k / 4][4 n][4 k]. A unit is a row of y.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATMUL_DSP_H
#define NNC_ROUTINES_MATMUL_DSP_H

#include "runtime/epilogue.h"
#include "runtime/routines/dsp_plan.h"
#include "runtime/routines/dsp_products.h"

namespace nnc {

template <class S, class Epi> struct matmul_i32_armdsp {
  static constexpr int units(const S &s) { return s.batch * s.m; }

  template <class Y>
  static void run(const S &s, const int8_t *a, const int8_t *b, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const dsp_plan p = plan_matmul_dsp(s);
    auto *column = reinterpret_cast<uint32_t *>(scratch);
    auto *sums = reinterpret_cast<int32_t *>(scratch + p.column_bytes());
    for (int unit = begin; unit < end; ++unit) {
      dsp_append_rest(column, a + ptrdiff_t(unit) * s.k, s.k);
      dsp_multiply_one(column, b, s.n, p.words, sums);
      ptrdiff_t at = ptrdiff_t(unit) * s.n;
      for (int j = 0; j < s.n; ++j, ++at)
        y[at] = epi(sums[j], position<true>{at, j});
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATMUL_DSP_H
