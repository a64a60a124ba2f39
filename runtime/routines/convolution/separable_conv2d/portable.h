//===- portable.h - Depthwise, then 1 x 1 convolution; the reference ------===//
//
// The layer of shape.h, all tensors row-major. The whole depthwise result is
// stored in scratch, so this is no faster than two layers. There is one unit.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_PORTABLE_H
#define NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_PORTABLE_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/inner_activation.h"
#include "runtime/routines/convolution/separable_conv2d/plan.h"

namespace nnc {

template <class S, class Epi> struct separable_conv2d_f32_portable {
  NNC_FN static constexpr int units(const S &) { return 1; }

  NNC_FN static void run(const S &s, const float *x, const float *w,
                         const float *bias, const float *v, float *y,
                         unsigned char *scratch, const Epi &epi, int begin,
                         int end) {
    if (begin == end)
      return;
    using first = depthwise_part<S>;
    using inner = inner_epilogue<S, float>;
    using depthwise = conv2d_f32_portable<first, inner>;
    using pointwise = conv2d_f32_portable<second, Epi>;
    const first a = first::of(s);
    const second b{s.n, s.c, s.oh, s.ow, s.k, 1,    1,    1,
                   1,   1,   1,    0,    0,   s.oh, s.ow, 1};
    float *const z = reinterpret_cast<float *>(scratch);
    depthwise::run(a, x, w, z, inner{&s, {bias}}, 0, depthwise::units(a));
    pointwise::run(b, z, v, y, epi, 0, pointwise::units(b));
  }

private:
  /// Shape of the 1 x 1 convolution, with the fields of conv2d_shape.
  struct second {
    int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups;
  };
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_SEPARABLE_CONV2D_PORTABLE_H
