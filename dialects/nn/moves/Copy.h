//===- Copy.h - Helpers of ops that move elements or work along axes ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_MOVES_COPY_H
#define NNC_DIALECTS_NN_MOVES_COPY_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/PatternMatch.h"

namespace nnc::nn {

/// Creates a call of the `copy` family that copies a block of shape `dims` of
/// operand number `operand` to the result. `source` and `target` are the
/// strides and `sourceOffset` and `targetOffset` the offsets on the two sides,
/// all in elements. Adjacent axes that are contiguous on both sides are merged.
RoutineCall makeCopy(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> dims,
                     llvm::ArrayRef<int64_t> source,
                     llvm::ArrayRef<int64_t> target, int64_t sourceOffset,
                     int64_t targetOffset, unsigned operand);

/// Name of the unit attribute of an nn.concat that a single call computes, of a
/// routine of the family `join`. It suits GPUs, whose calls are launches.
/// Without it, each operand is a copy. There may be kMostJoined operands.
inline constexpr llvm::StringLiteral kInOneCallAttr = "in_one_call";
inline constexpr size_t kMostJoined = 8;

/// Returns the row-major strides of `shape`, in elements.
llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape);

/// Returns the type of `value` without its layout.
inline mlir::RankedTensorType getPlain(mlir::Value value) {
  return getLogicalType(getTensorType(value));
}

/// Returns success if a tensor of rank `rank` has the axis `axis`, else reports
/// that it does not.
mlir::LogicalResult checkAxis(std::optional<mlir::Location> location,
                              int64_t axis, int64_t rank);

/// Returns the axis of the shape `to` that axis `axis` of the shape `from`
/// becomes in a reshape: it has the same size, and the axes before it have as
/// many elements. Returns -1 if there is none.
int64_t findReshapedAxis(llvm::ArrayRef<int64_t> from,
                         llvm::ArrayRef<int64_t> to, int64_t axis);

/// Returns `pads`, which holds the padding before all of some axes and then
/// that behind them, with other padding along axis number `i` of these.
llvm::SmallVector<int64_t> withPadding(llvm::ArrayRef<int64_t> pads, int64_t i,
                                       int64_t before, int64_t after);

/// Returns the fields outer, size and inner: the products of the dimensions
/// before, in and behind the axes [begin, end).
ShapeFields getRunFields(mlir::RankedTensorType x, int64_t begin, int64_t end);

/// Returns `shape` without `axes`, or with size 1 for them if `keep` is set.
llvm::SmallVector<int64_t> removeAxes(llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> axes, bool keep);

/// Returns the row-major tensor type of `shape` with the elements of `type`.
inline mlir::RankedTensorType withShape(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, type.getElementType());
}

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_MOVES_COPY_H
