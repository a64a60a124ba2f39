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

/// Whether its filters have one pixel, which steps over all, without groups.
bool isPointwise(nn::ConvOp conv);

/// A constant of `value` for each channel of images of type `x`.
mlir::Value createPerChannel(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::RankedTensorType x, double value);

/// A layer as `layer` is, but for its inputs and its anchor, a block that has
/// these as arguments and is empty.
nn::LayerOp createLayerOn(mlir::OpBuilder &builder, mlir::Location loc,
                          nn::LayerOp layer, mlir::ValueRange inputs);

/// Two layers, of which the second alone reads the first.
struct LayerPair {
  nn::LayerOp first, second;
};

struct FusionOptions {
  llvm::StringRef note; ///< the attribute that has both costs
  /// One layer takes less than this share of the time of two, or there are two.
  double worthwhile;
  bool countsFetch; ///< two also bring the place of what lies between them near
  double maxError;  ///< of what computes a layer
  const TuningFile *tuned; ///< whose choice of a routine decides; or null
};

/// Puts `one`, which computes what both layers do, into their place where that
/// is faster; else erases it.
void fuseWhereFaster(LayerPair pair, nn::LayerOp one,
                     const FusionOptions &options, const CostModel &cost);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_FUSION_H
