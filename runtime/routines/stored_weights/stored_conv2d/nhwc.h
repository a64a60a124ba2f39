//===- nhwc.h - Strips of decoded filters on any machine ------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_NHWC_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_NHWC_H

#include "runtime/routines/convolution/conv2d/nhwc.h"
#include "runtime/routines/stored_weights/stored_conv2d/strips.h"

namespace nnc {

template <class S, class Epi>
using stored_conv2d_f32_nhwc_portable =
    stored_conv2d_strips<conv2d_nhwc<float, S, Epi>, float, S, Epi>;
template <class S, class Epi>
using stored_conv2d_i32_nhwc_portable =
    stored_conv2d_strips<conv2d_nhwc<int32_t, S, Epi>, int8_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_NHWC_H
