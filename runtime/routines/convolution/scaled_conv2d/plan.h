//===- plan.h - How a convolution of a scaled input is cut ----------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PLAN_H

#include "runtime/routines/transforms/strassen_plan.h"

namespace nnc {

/// Plan with `levels` levels of Strassen's method (0: none), blocks of W
/// channels and register tiles of P x B. `bytes` is the size of an element.
template <class S>
constexpr transformed_plan plan_scaled_conv2d(const S &s, int levels, int W,
                                              int P, int B,
                                              int bytes = sizeof(float)) {
  return plan_strassen(s.n, s.h * s.w, s.c, s.k, levels, W, P, B, false, bytes);
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_SCALED_CONV2D_PLAN_H
