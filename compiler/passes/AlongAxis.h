//===- AlongAxis.h - Ops that treat an axis element by element --*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_ALONGAXIS_H
#define NNC_COMPILER_PASSES_ALONGAXIS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace nnc {

mlir::RankedTensorType getRankedType(mlir::Value value);

/// Returns `type` with another size of an axis.
mlir::RankedTensorType withSize(mlir::RankedTensorType type, int64_t axis,
                                int64_t size);

/// Returns true if elements along the axis have scales of their own.
bool hasScalesAlong(mlir::RankedTensorType type, int64_t axis);

/// Returns true if each element of the op's result depends on one element of
/// each operand, as NumPy broadcasts them.
bool isElementwise(mlir::Operation *op);

/// Returns the axis of operand number `operand` of an elementwise op that is
/// axis `axis` of its result; negative if the operand does not have it.
int64_t getBroadcastAxis(mlir::Operation *op, unsigned operand, int64_t axis);

/// The windows of a convolution or a pool along an axis: window i begins at
/// element i * stride - before of the operand.
struct AxisWindows {
  int64_t kernel, stride, dilation;
  int64_t before, after; ///< elements of padding
  int64_t getExtent() const { return (kernel - 1) * dilation + 1; }
};

/// Returns the windows that a convolution or a pool has along axis `axis` of
/// its operand 0, which is that of its result; nullopt for other ops and axes.
std::optional<AxisWindows> getWindows(mlir::Operation *op, int64_t axis);

/// Returns the axis of the result that takes the place of axis `axis` of
/// operand 0 in an op of one operand that treats each element along it alike;
/// negative if it is not one. Elementwise ops and windows are not such ops.
int64_t followAxis(mlir::Operation *op, int64_t axis);

/// Returns true if the slice takes all elements along the axis, in order.
bool takesAll(mlir::Operation *slice, int64_t axis);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_ALONGAXIS_H
