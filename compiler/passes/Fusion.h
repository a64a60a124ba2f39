//===- Fusion.h - One layer in the place of two ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_FUSION_H
#define NNC_COMPILER_PASSES_FUSION_H

#include "compiler/schedule/Candidates.h"
#include "compiler/tuning/TuningFile.h"

namespace nnc {

/// What happens between two parts of a layer.
struct Middle {
  mlir::Value scale; ///< a value a channel, or null; so is the bias
  mlir::Value bias;
  nn::MiddleActivation activation = nn::MiddleActivation::none;
  double low = 0, high = 0;
};

/// Sets the middle's activation to what `op` computes, if it can be that.
bool setActivation(mlir::Operation &op, Middle &middle);

/// The layer's convolution, or null.
nn::ConvOp getConv(nn::LayerOp layer);

/// What images of type `x` have for each channel: one value.
mlir::RankedTensorType getPerChannelType(mlir::RankedTensorType x);

/// `own`, or where it is null a constant of `value` for each channel of images
/// of type `x`.
mlir::Value getPerChannel(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value own, mlir::RankedTensorType x,
                          double value);

/// The layer that computes what `first` and `second` do, beside them: with the
/// second's name and epilogue, and the anchor that `create` makes of `inputs`.
nn::LayerOp createOneLayer(
    nn::LayerOp first, nn::LayerOp second, mlir::ValueRange inputs,
    mlir::OpBuilder &builder,
    llvm::function_ref<mlir::Value(mlir::Location, mlir::Block &)> create);

struct FusionOptions {
  llvm::StringRef target;
  llvm::StringRef note; ///< the attribute that has both costs
  /// One layer takes less than this share of the time of two, or there are two.
  double worthwhile;
  bool countsFetch; ///< two also bring the place of what lies between them near
  double maxError;  ///< of what computes a layer
  const TuningFile *tuned; ///< whose choice of a routine decides; or null
};

/// For each 1 x 1 convolution that alone reads another layer, and that `fuse`
/// makes one layer of with it: puts that into the place of both where it is
/// faster, else erases it.
mlir::LogicalResult fusePointwise(
    mlir::ModuleOp module, const FusionOptions &options,
    llvm::function_ref<nn::LayerOp(nn::LayerOp first, nn::LayerOp pointwise)>
        fuse);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_FUSION_H
