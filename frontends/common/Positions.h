//===- Positions.h - Positions of elements along axes ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_POSITIONS_H
#define NNC_FRONTENDS_COMMON_POSITIONS_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// Returns the constant 0, stride, 2 * stride, ... of `count` elements of type
/// i64 along `axis` of a tensor of `rank` axes, all others of which have one
/// element: the positions in row-major order that indices along this axis add.
mlir::Value makeSteps(LayerBuilder &layer, int64_t count, int64_t stride,
                      int64_t axis, int64_t rank);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_POSITIONS_H
