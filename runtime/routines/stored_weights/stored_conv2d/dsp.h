//===- dsp.h - Strips of decoded filters with Arm's DSP extension ---------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_DSP_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_DSP_H

#include "runtime/routines/convolution/conv2d/dsp.h"
#include "runtime/routines/stored_weights/stored_conv2d/strips.h"

namespace nnc {

template <class S, class Epi>
using stored_conv2d_i32_nhwc_armdsp =
    stored_conv2d_strips<conv2d_i32_nhwc_armdsp<S, Epi>, int8_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_DSP_H
