//===- Positions.h - Positions in a flattened tensor ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_MOVES_POSITIONS_H
#define NNC_FRONTENDS_ONNX_MOVES_POSITIONS_H

#include "frontends/common/Positions.h"
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

/// Returns the positions in a flat tensor of shape `shape` of the elements that
/// `indices` select along `axis`; along the other axes an element is at the
/// position of its index. Null after an error if the shapes do not fit or a
/// constant index is out of range.
mlir::Value locateElements(Node &node, llvm::ArrayRef<int64_t> shape,
                           mlir::Value indices, int64_t axis);

/// Returns the positions in a tensor of shape `axes`, flat, of the coordinates
/// that the last axis of `indices` holds for all axes from `first` on. Null
/// after an error if a constant coordinate is out of range.
mlir::Value locateSlices(Node &node, llvm::ArrayRef<int64_t> axes,
                         mlir::Value indices, int64_t first);

/// Returns the elements of `x` that the i64 vector `positions` selects along
/// `axis`. Positions may be computed at run time; those out of range are
/// clamped to the first or last element.
mlir::Value takeAlong(Node &node, mlir::Value x, int64_t axis,
                      mlir::Value positions);

/// The largest number of axes along which an operator is computed so that the
/// network selects one of the results at run time.
inline constexpr size_t kMaxComputedAxes = 4;

/// A list of axes that the network may compute at run time, such as the operand
/// `axes` of a Slice. Other operands of the node have one value for each axis
/// in the list.
struct ByAxis {
  mlir::Value axes; ///< axes in the list; negative ones count from the back
  int64_t rank;     ///< number of all axes
  /// Returns whether `axis` may be in the list.
  bool mayName(int64_t axis) const;
  /// Returns a boolean scalar that is true if `axis` is in the list.
  mlir::Value names(Node &node, int64_t axis) const;
  /// Returns the element of the vector `values` that belongs to `axis` as a
  /// scalar, or `otherwise` if `axis` is not in the list.
  mlir::Value get(Node &node, mlir::Value values, int64_t axis,
                  int64_t otherwise) const;
};

/// Returns the result of `compute` for the axis in operand `i`, which counts
/// from the back of `rank` axes if it is negative. If the network computes the
/// operand, the result is selected at run time from the results for all `axes`
/// that it may name, which must have the same shape.
mlir::Value
computeAlongOperand(Node &node, size_t i, int64_t rank,
                    llvm::ArrayRef<int64_t> axes,
                    llvm::function_ref<mlir::Value(int64_t axis)> compute);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_MOVES_POSITIONS_H
