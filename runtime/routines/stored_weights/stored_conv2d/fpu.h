//===- fpu.h - Strips of decoded filters in tiles of floats ---------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_FPU_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_FPU_H

#include "runtime/routines/convolution/conv2d/fpu.h"
#include "runtime/routines/stored_weights/stored_conv2d/strips.h"

namespace nnc {

template <class S, int INLINE, class Epi>
using stored_conv2d_f32_nhwc_fpu =
    stored_conv2d_strips<conv2d_f32_nhwc_fpu<S, INLINE, Epi>, float, S, Epi>;
template <class S, int INLINE, class Epi>
using stored_conv2d_f32_nhwc_few_fpu =
    stored_conv2d_strips<conv2d_f32_nhwc_few_fpu<S, INLINE, Epi>, float, S,
                         Epi>;
template <class S, int INLINE, class Epi>
using stored_conv2d_f32_nchw_fpu =
    stored_conv2d_strips<conv2d_f32_nchw_fpu<S, INLINE, Epi>, float, S, Epi>;
template <class S, int INLINE, class Epi>
using stored_conv2d_f32_nchw_few_fpu =
    stored_conv2d_strips<conv2d_f32_nchw_few_fpu<S, INLINE, Epi>, float, S,
                         Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_FPU_H
