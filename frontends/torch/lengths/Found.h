//===- Found.h - Positions of the elements that a mask selects ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_LENGTHS_FOUND_H
#define NNC_FRONTENDS_TORCH_LENGTHS_FOUND_H

#include "frontends/torch/graph/Node.h"

namespace nnc::torch {

/// Returns the positions in the flat `mask` of the elements that are not zero.
/// Their number is the size of axis `axis` of result `result` of the node.
/// Returns null after an error.
mlir::Value findPositions(Node &node, mlir::Value mask, size_t result,
                          int64_t axis);
/// Returns those positions, as many as axis `axis` of the argument `name` has
/// elements, of which the program states that they are equal. Returns null
/// after an error.
mlir::Value findPositionsOf(Node &node, mlir::Value mask, llvm::StringRef name,
                            int64_t axis);
/// Returns the indices, one vector for each axis, of the elements at
/// `positions` of a flat tensor of shape `shape`.
llvm::SmallVector<mlir::Value> splitPositions(Node &node, mlir::Value positions,
                                              llvm::ArrayRef<int64_t> shape);

/// The elements of a tensor, or its slices along an axis, of which an operator
/// looks for equal ones.
struct Slices {
  mlir::Value x;      ///< the tensor; flat if its elements are meant
  mlir::Value matrix; ///< a row for each of them
  int64_t axis, rows;
  llvm::SmallVector<int64_t> shape; ///< of the operand
  bool isOfSlices;
};
/// Returns the slices along the argument `dim` of the operand, or its elements
/// without that argument. Returns nullopt after an error.
std::optional<Slices> readSlices(Node &node);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_LENGTHS_FOUND_H
