//===- Moves.h - Parts of tensors and orders of axes ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_MOVES_MOVES_H
#define NNC_FRONTENDS_TORCH_MOVES_MOVES_H

#include "frontends/torch/graph/Node.h"

namespace nnc::torch {

/// Returns the axes of the operand in the order in which a transpose, permute
/// or the like of `rank` axes has them; nullopt after an error.
std::optional<llvm::SmallVector<int64_t>> getPermutation(Node &node,
                                                         int64_t rank);

/// A part of a tensor: `size` indices along `axis` from `start` on, which are
/// `step` apart.
struct Part {
  int64_t axis, start, size, step;
  bool dropsAxis; ///< the axis, which then has size 1, is left out
};

/// Returns the part of `x` that result `result` of a slice, select, split or
/// the like is; nullopt after an error.
std::optional<Part> getPart(Node &node, mlir::Value x, size_t result);
/// Returns that part of `x`.
mlir::Value readPart(Node &node, mlir::Value x, const Part &part);
/// Returns `x` with the elements `values` in place of that part. `values` have
/// all axes of x.
mlir::Value writePart(Node &node, mlir::Value x, mlir::Value values,
                      const Part &part);

/// Returns the distance of elements that follow each other along an axis of a
/// row-major tensor.
int64_t getStride(llvm::ArrayRef<int64_t> shape, int64_t axis);
/// Returns `x` after each of `updates`, of which one may serve all, has been
/// combined with the element at its position in the flat tensor.
mlir::Value scatterFlat(Node &node, nn::ScatterKind kind, mlir::Value x,
                        mlir::Value positions, mlir::Value updates);
/// Returns `x` with `values` in place of the elements of which a node
/// (as_strided, diagonal, unfold, expand) makes a view.
mlir::Value writePattern(Node &node, mlir::Value x, mlir::Value values);

/// Returns the sizes of a shape in which one may be -1, for `elements`
/// elements; nullopt after an error.
std::optional<llvm::SmallVector<int64_t>>
resolveShape(Node &node, llvm::ArrayRef<int64_t> shape, int64_t elements);

/// Returns the elements of `x` at `indices` along an axis, whose place the axes
/// of `indices` take. Known indices that pad the axis, by which decomposed
/// programs write reflections and the like, become a pad.
mlir::Value takeIndices(Node &node, mlir::Value x, mlir::Value indices,
                        int64_t axis);
/// Returns `indices`, in i64, with the size of their axis added to those that
/// count from its end.
mlir::Value wrapIndices(Node &node, mlir::Value indices, int64_t size);
/// Returns the positions, in a flat tensor of shape `shape`, of the elements
/// that `indices` select along `axis`; along the other axes an element is at
/// the place of its index. Null after an error.
mlir::Value locateElements(Node &node, llvm::ArrayRef<int64_t> shape,
                           mlir::Value indices, int64_t axis);
/// Returns the elements of `x` that `indices` select along `axis`, each for its
/// own place along the other axes.
mlir::Value takeAlong(Node &node, mlir::Value x, mlir::Value indices,
                      int64_t axis);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_MOVES_MOVES_H
