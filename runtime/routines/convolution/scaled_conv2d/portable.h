//===- portable.h - 1 x 1 convolution of a scaled input; the reference ----===//
//
// The layer of shape.h, all tensors row-major. A unit is a plane of the output.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PORTABLE_H
#define NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/inner_activation.h"

namespace nnc {

template <class S, class Epi> struct scaled_conv2d_f32_portable {
  NNC_FN static constexpr int units(const S &s) { return s.n * s.k; }

  NNC_FN static void run(const S &s, const float *x, const float *scale,
                         const float *bias, const float *v, float *y,
                         const Epi &epi, int begin, int end) {
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    for (int unit = begin; unit < end; ++unit) {
      const int image = unit / s.k, filter = unit % s.k;
      for (ptrdiff_t i = 0; i < plane; ++i) {
        const float *at = x + ptrdiff_t(image) * s.c * plane + i;
        float sum = 0.0f;
        for (int c = 0; c < s.c; ++c, at += plane)
          sum += activate(s, *at * scale[c] + bias[c]) *
                 v[ptrdiff_t(filter) * s.c + c];
        const ptrdiff_t offset = unit * plane + i;
        y[offset] = epi(sum, position<false>{offset, filter});
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PORTABLE_H
