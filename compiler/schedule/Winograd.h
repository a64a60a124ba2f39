//===- Winograd.h - Weights for Winograd's convolution --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SCHEDULE_WINOGRAD_H
#define NNC_COMPILER_SCHEDULE_WINOGRAD_H

#include "compiler/TensorData.h"

namespace nnc {

/// What Winograd's method for `outputs` at a time makes of `weight`, an f32
/// KCRS or KCS; row-major, computed in double precision and rounded once.
TensorData transformWeight(const TensorData &weight, int64_t outputs);

} // namespace nnc

#endif // NNC_COMPILER_SCHEDULE_WINOGRAD_H
