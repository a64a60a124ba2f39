//===- portable.h - 1 x 1, then depthwise convolution; the reference ------===//
//
// The layer of shape.h, all tensors row-major. The whole result of the 1 x 1
// convolution is stored in scratch, so this is no faster than two layers. There
// is one unit.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_PORTABLE_H
#define NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_PORTABLE_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/inner_activation.h"

namespace nnc {

template <class S, class Epi> struct expanded_conv2d_f32_portable {
  NNC_FN static constexpr int units(const S &) { return 1; }

  NNC_FN static void run(const S &s, const float *x, const float *v,
                         const float *bias, const float *w, float *y,
                         unsigned char *scratch, const Epi &epi, int begin,
                         int end) {
    if (begin == end)
      return;
    using inner = inner_epilogue<S, float>;
    using pointwise = conv2d_f32_portable<part, inner>;
    using depthwise = conv2d_f32_portable<part, Epi>;
    const part a{s.n, s.c, s.h, s.w, s.k, 1, 1, 1, 1, 1, 1, 0, 0, s.h, s.w, 1};
    const part b{s.n,  s.k,  s.h,  s.w,  s.k,  s.kh, s.kw, s.sh,
                 s.sw, s.dh, s.dw, s.pt, s.pl, s.oh, s.ow, s.k};
    float *const z = reinterpret_cast<float *>(scratch);
    pointwise::run(a, x, v, z, inner{&s, {bias}}, 0, pointwise::units(a));
    depthwise::run(b, z, w, y, epi, 0, depthwise::units(b));
  }

private:
  /// Shape of one of the two convolutions, with the fields of conv2d_shape.
  struct part {
    int n, c, h, w, k, kh, kw, sh, sw, dh, dw, pt, pl, oh, ow, groups;
  };
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_PORTABLE_H
