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

/// Returns `type` with size `size` on axis `axis`.
mlir::RankedTensorType withSize(mlir::RankedTensorType type, int64_t axis,
                                int64_t size);

/// Returns true if `type` is quantized with one scale for each index of `axis`.
bool hasScalesAlong(mlir::RankedTensorType type, int64_t axis);

/// Returns true if each element of the op's result depends on one element of
/// each operand, as NumPy broadcasts them.
bool isElementwise(mlir::Operation *op);

/// Returns the axis of operand number `operand` of an elementwise op that is
/// axis `axis` of its result; negative if the operand does not have it.
int64_t getBroadcastAxis(mlir::Operation *op, unsigned operand, int64_t axis);

/// The windows of a convolution or a pool along an axis. Window i begins at
/// element i * stride - before of the operand.
struct AxisWindows {
  int64_t kernel, stride, dilation;
  int64_t before, after; ///< elements of padding
  int64_t getExtent() const { return (kernel - 1) * dilation + 1; }
};

/// Returns the windows of a convolution or a pool along axis `axis` of its
/// operand 0, which is also that axis of its result; nullopt for other ops and
/// for the batch and channel axes.
std::optional<AxisWindows> getWindows(mlir::Operation *op, int64_t axis);

/// Returns the axis of the result that corresponds to axis `axis` of operand 0,
/// for an op that treats all elements along this axis alike and whose other
/// operands do not have it; a negative number for other ops. Elementwise ops
/// and ops with windows are not covered.
int64_t followAxis(mlir::Operation *op, int64_t axis);

/// Returns true if `slice` is an nn.slice that takes all elements along the
/// axis, in order.
bool takesAll(mlir::Operation *slice, int64_t axis);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_ALONGAXIS_H
