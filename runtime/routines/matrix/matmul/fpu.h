//===- fpu.h - Matrix products in register tiles of single floats ---------===//
//
// The product of portable.h, of floats, with b as it stands. A tile has two
// rows by eight columns, or the last row, with INLINE, by sixteen. A unit is
// two rows of y of one product.
//
// A sum adds its products one after the other, so the error is that of a plain
// sum of k products.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_FPU_H
#define NNC_ROUTINES_MATRIX_MATMUL_FPU_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/fpu_tile.h"

namespace nnc {

template <class S, int INLINE, class Epi> struct matmul_f32_fpu {
  static constexpr int units(const S &s) { return s.batch * ceil_div(s.m, 2); }

  template <class Y>
  static void run(const S &s, const float *a, const float *b, Y *y,
                  const Epi &epi, int begin, int end) {
    const int tiles = ceil_div(s.m, 2);
    for (int unit = begin; unit < end; ++unit) {
      const int batch = unit / tiles, row = unit % tiles * 2;
      const float *left = a + ptrdiff_t(batch) * s.a_batch_stride +
                          ptrdiff_t(row) * (s.transpose_a ? 1 : s.k);
      const float *right = b + ptrdiff_t(batch) * s.b_batch_stride;
      const ptrdiff_t at = (ptrdiff_t(batch) * s.m + row) * s.n;
      if (s.m - row >= 2 || !INLINE)
        run_rows(s, left, right, y, epi, at, s.m - row >= 2 ? 2 : 1);
      else
        run_row(s, left, right, y, epi, at);
    }
  }

private:
  /// Computes two rows, or one, whose first result is y[at].
  template <class Y>
  static NNC_INLINE void run_rows(const S &s, const float *a, const float *b,
                                  Y *y, const Epi &epi, ptrdiff_t at,
                                  int points) {
    float_steps steps{};
    steps.outer = s.k > 0;
    steps.middle = 1;
    steps.inner = s.k;
    steps.x_inner = s.transpose_a ? s.m : 1;
    steps.w_inner = s.n;
    steps.point = s.transpose_a ? 1 : s.k;
    float_results<true> to{};
    to.at = at;
    to.point = s.n;
    to.channel = 1;
    for (to.count = 8; to.first + 8 <= s.n; to.first += 8, to.at += 8, b += 8)
      compute_tile<INLINE, 2>(
          tile_form<float, eight_floats, eight_floats, false>(), a, b, steps,
          to, y, epi, points);
    for (to.count = 1; to.first < s.n; ++to.first, ++to.at, ++b)
      compute_tile<INLINE, 2>(tile_form<float, float, float, false>(), a, b,
                              steps, to, y, epi, points);
  }

  /// Computes one row. The points of its tiles are columns.
  template <class Y>
  static NNC_INLINE void run_row(const S &s, const float *a, const float *b,
                                 Y *y, const Epi &epi, ptrdiff_t at) {
    float_steps steps{};
    steps.outer = s.k > 0;
    steps.middle = 1;
    steps.inner = s.k;
    steps.x_inner = s.n;
    steps.w_inner = s.transpose_a ? s.m : 1;
    steps.point = 8;
    float_results<true> to{};
    to.at = at;
    to.point = 8;
    to.channel = 1;
    to.more = 8;
    for (to.count = 8; to.first + 16 <= s.n;
         to.first += 16, to.at += 16, b += 16)
      compute_tile<INLINE, 2>(
          tile_form<eight_floats, float, eight_floats, false>(), b, a, steps,
          to, y, epi);
    for (; to.first + 8 <= s.n; to.first += 8, to.at += 8, b += 8)
      compute_tile<INLINE, 1>(
          tile_form<eight_floats, float, eight_floats, false>(), b, a, steps,
          to, y, epi);
    for (to.count = 1; to.first < s.n; ++to.first, ++to.at, ++b)
      compute_tile<INLINE, 1>(tile_form<float, float, float, false>(), b, a,
                              steps, to, y, epi);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_FPU_H
