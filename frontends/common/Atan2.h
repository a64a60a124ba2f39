//===- Atan2.h - The angle of a point ---------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_ATAN2_H
#define NNC_FRONTENDS_COMMON_ATAN2_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// Returns the angle in radians, from -pi to pi, between the positive x axis
/// and the point (x, y), for each element of tensors of reals of one type. The
/// angle of (0, 0) is 0. Returns null if an operand is null.
mlir::Value computeAtan2(LayerBuilder &layer, mlir::Value y, mlir::Value x);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_ATAN2_H
