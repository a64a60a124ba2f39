//===- Positions.h - Where indices point to in a flat tensor --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_POSITIONS_H
#define NNC_FRONTENDS_ONNX_POSITIONS_H

#include "frontends/onnx/Node.h"

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

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_POSITIONS_H
