//===- AxisTypes.h - Types of parts of values along an axis -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_AXISTYPES_H
#define NNC_COMPILER_PASSES_AXISTYPES_H

#include "dialects/nn/axes/AxisUse.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace nnc {

mlir::RankedTensorType getRankedType(mlir::Value value);

/// Returns `type` with size `size` on axis `axis`.
mlir::RankedTensorType withSize(mlir::RankedTensorType type, int64_t axis,
                                int64_t size);

/// Returns true if the op's result, or an operand that `use` relates to axis
/// `axis` of the result, is quantized with one scale for each index of that
/// axis. The type of a part of it would need a part of the scales.
bool hasScalesAlong(mlir::Operation *op, const nn::AxisUse &use, int64_t axis);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_AXISTYPES_H
