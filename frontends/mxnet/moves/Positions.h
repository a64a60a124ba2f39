//===- Positions.h - Positions of elements ----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_MOVES_POSITIONS_H
#define NNC_FRONTENDS_MXNET_MOVES_POSITIONS_H

#include "frontends/common/Positions.h"
#include "frontends/mxnet/graph/Layer.h"

namespace nnc::mxnet {

/// Returns the elements of `x` at the positions `indices` along `axis`, where
/// `indices`, i64, has the shape of `x` but for that axis.
mlir::Value gatherElements(Layer &layer, mlir::Value x, mlir::Value indices,
                           int64_t axis);

/// Returns indices as i64 from 0 to size - 1: others are clamped or, with
/// `wraps`, taken modulo the size.
mlir::Value bringIntoRange(Layer &layer, mlir::Value indices, int64_t size,
                           bool wraps);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_MOVES_POSITIONS_H
