// Weights as Winograd's convolution wants them.
#ifndef NNC_TEST_WINOGRAD_WEIGHTS_H
#define NNC_TEST_WINOGRAD_WEIGHTS_H

#include "runtime/routines/conv2d/shape.h"
#include "runtime/routines/conv2d/winograd.h"
#include "test/runtime/blocked.h"

namespace nnc_test {

/// K x C x R x S as U = G w G^T, rounded once, in KRSC<W>k.
inline floats transform_weights(const nnc::conv2d_shape &s, const floats &w,
                                int outputs, int width) {
  const nnc::winograd_matrices rows =
      nnc::make_winograd(nnc::winograd_outputs(s.kh, outputs), s.kh);
  const nnc::winograd_matrices cols =
      nnc::make_winograd(nnc::winograd_outputs(s.kw, outputs), s.kw);
  const int area = rows.points * cols.points;
  floats u(std::size_t(blocks(s.k, width)) * area * s.c * width, 0.0f);
  for (int k = 0; k < s.k; ++k)
    for (int c = 0; c < s.c; ++c)
      for (int point = 0; point < area; ++point) {
        const double *column = cols.filter[point % cols.points];
        const double *row = rows.filter[point / cols.points];
        double sum = 0;
        for (int tap = 0; tap < s.kh * s.kw; ++tap)
          sum += row[tap / s.kw] * column[tap % s.kw] *
                 w[(std::size_t(k) * s.c + c) * s.kh * s.kw + tap];
        u[((std::size_t(k / width) * area + point) * s.c + c) * width +
          k % width] = float(sum);
      }
  return u;
}

} // namespace nnc_test

#endif // NNC_TEST_WINOGRAD_WEIGHTS_H
