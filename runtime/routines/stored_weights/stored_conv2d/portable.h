//===- portable.h - Strips of decoded filters for images as planes --------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_PORTABLE_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_PORTABLE_H

#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/stored_weights/stored_conv2d/strips.h"

namespace nnc {

template <class S, class Epi>
using stored_conv2d_f32_portable =
    stored_conv2d_strips<conv2d_f32_portable<S, Epi>, float, S, Epi>;
template <class S, class Epi>
using stored_conv2d_i32_portable =
    stored_conv2d_strips<conv2d_i32_portable<S, Epi>, int8_t, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_PORTABLE_H
