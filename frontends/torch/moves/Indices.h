//===- Indices.h - Lists of indices, one for each of several axes ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_MOVES_INDICES_H
#define NNC_FRONTENDS_TORCH_MOVES_INDICES_H

#include "frontends/torch/moves/Moves.h"

namespace nnc::torch {

/// The indices of x[i, :, j] and the like, which index some axes of x.
struct IndexList {
  llvm::SmallVector<int64_t>
      axes; ///< axes that are indexed, in ascending order
  llvm::SmallVector<mlir::Value> indices; ///< of each of these axes
  llvm::SmallVector<int64_t> shape;       ///< to which the indices broadcast
  bool isTogether = true;                 ///< whether the axes are neighbours

  /// Returns the positions of the elements, row-major, in a tensor that has
  /// only the indexed axes of a tensor of shape `shapeOfX`.
  mlir::Value locate(Node &node, llvm::ArrayRef<int64_t> shapeOfX) const;
};

/// Reads the argument `indices` of an operator on `x`. A mask stands for the
/// indices of its true elements; if it is not known, `findTrue` returns their
/// positions in the flat mask. Returns nullopt after an error.
std::optional<IndexList>
readIndices(Node &node, mlir::Value x,
            llvm::function_ref<mlir::Value(mlir::Value)> findTrue);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_MOVES_INDICES_H
