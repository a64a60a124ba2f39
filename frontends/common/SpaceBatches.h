//===- SpaceBatches.h - Blocks of space as samples of a batch -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_SPACEBATCHES_H
#define NNC_FRONTENDS_COMMON_SPACEBATCHES_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// The operands of SpaceToBatch and BatchToSpace of TensorFlow and TFLite, for
/// the axes 1, 2, ... of a tensor.
struct SpaceBlocks {
  llvm::SmallVector<int64_t> sizes; ///< elements of a block along each axis
  /// The elements to add (space to batch) or to remove (batch to space) in
  /// front of the first axis, behind it, in front of the second axis, and so
  /// on.
  llvm::SmallVector<int64_t> edges;
};

/// Returns the blocks into which SpaceToBatch cuts `x`, or from which
/// BatchToSpace joins it. `sizes` and `edges` are the operands of the layer.
/// Returns nullopt after an error if the operands are not known when compiling
/// or do not fit `x`.
std::optional<SpaceBlocks> readSpaceBlocks(LayerBuilder &layer, mlir::Value x,
                                           mlir::Value sizes,
                                           mlir::Value edges);

/// Returns `x`, padded with the constant `padding`, cut into blocks: sample
/// b * n + i of the result has element b of each block of sample i, where n is
/// the number of samples of `x`. Returns null after an error if the blocks do
/// not fit.
mlir::Value spaceToBatch(LayerBuilder &layer, mlir::Value x,
                         const SpaceBlocks &blocks, double padding);

/// Returns the tensor that spaceToBatch() cut into `x`, without its edges.
/// Returns null after an error if the blocks do not fit.
mlir::Value batchToSpace(LayerBuilder &layer, mlir::Value x,
                         const SpaceBlocks &blocks);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_SPACEBATCHES_H
