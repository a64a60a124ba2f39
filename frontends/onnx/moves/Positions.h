//===- Positions.h - Where indices point to in a flat tensor --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_MOVES_POSITIONS_H
#define NNC_FRONTENDS_ONNX_MOVES_POSITIONS_H

#include "frontends/onnx/graph/Node.h"

namespace nnc::onnx {

/// Checks that constant indices are in the range of an axis of size `size`.
/// Reports an error and returns false if one is not.
bool checkIndices(Node &node, mlir::Value indices, int64_t size);

/// Returns the row-major stride of `axis`, in elements.
int64_t getStride(llvm::ArrayRef<int64_t> shape, int64_t axis);

/// Returns the indices of an axis of size `size` times `stride`, after adding
/// the size to negative ones, in i64.
mlir::Value scaleIndices(Node &node, mlir::Value indices, int64_t size,
                         int64_t stride);

/// Returns a constant of rank `rank` that holds 0, stride, 2 * stride, ...
/// along `axis`.
mlir::Value makeSteps(Node &node, int64_t count, int64_t stride, int64_t axis,
                      int64_t rank);

/// Returns the positions in a flat tensor of shape `shape` of the elements that
/// `indices` select along `axis`; along the other axes an element is at the
/// position of its index. Null, after a report, if the shapes do not fit or a
/// constant index is out of range.
mlir::Value locateElements(Node &node, llvm::ArrayRef<int64_t> shape,
                           mlir::Value indices, int64_t axis);

/// Returns the positions in a tensor of shape `axes`, flat, of the coordinates
/// that the last axis of `indices` holds for all axes from `first` on. Null,
/// after a report, if a constant coordinate is out of range.
mlir::Value locateSlices(Node &node, llvm::ArrayRef<int64_t> axes,
                         mlir::Value indices, int64_t first);

/// Returns the elements of `x` that the i64 vector `positions` selects along
/// `axis`. A position in front of the first element or behind the last one
/// becomes that: positions may be computed when the network runs.
mlir::Value takeAlong(Node &node, mlir::Value x, int64_t axis,
                      mlir::Value positions);

/// The most axes that are all computed to select one.
inline constexpr size_t kMaxComputedAxes = 4;

/// A list of axes that the network may compute, such as the operand `axes` of a
/// Slice, whose other operands have one value for each of them.
struct ByAxis {
  mlir::Value axes; ///< their numbers, negative ones from the back
  int64_t rank;     ///< number of all axes
  /// Returns whether `axis` may be in the list.
  bool mayName(int64_t axis) const;
  /// Returns a boolean scalar: whether there is a value for `axis`.
  mlir::Value names(Node &node, int64_t axis) const;
  /// Returns a scalar, the element of the vector `values` that is for `axis`,
  /// or `otherwise` where there is none.
  mlir::Value get(Node &node, mlir::Value values, int64_t axis,
                  int64_t otherwise) const;
};

/// Returns the result of `compute` for the axis that operand `i` holds, which
/// counts from the back of `rank` axes if it is negative. Where the network
/// computes the operand, one is selected of the results for all `axes` that it
/// may be; these need to be of one shape.
mlir::Value
computeAlongOperand(Node &node, size_t i, int64_t rank,
                    llvm::ArrayRef<int64_t> axes,
                    llvm::function_ref<mlir::Value(int64_t axis)> compute);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_MOVES_POSITIONS_H
