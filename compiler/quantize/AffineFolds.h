//===- AffineFolds.h - Scales and shifts folded into weights ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_AFFINEFOLDS_H
#define NNC_COMPILER_QUANTIZE_AFFINEFOLDS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace nnc::quantize {

/// A layer of a model, and the nodes behind it, such as a batch normalization,
/// whose scales and shifts can be folded into its weights and its bias.
struct AffineFold {
  std::string layer; ///< name of the layer in the model
  /// The names of the nodes behind it, in order. Each is the only reader of the
  /// one before.
  std::vector<std::string> nodes;
  /// The factor of the weights of each output channel, and the bias of the
  /// folded layer, which includes its own one. Either has one entry for each
  /// channel or a single one for all.
  std::vector<double> scale, shift;
};

/// Returns the folds that nnc makes in the main function of an imported model
/// (see patterns/AffineChain.h), for callers that edit the model's file.
std::vector<AffineFold> findFolds(mlir::ModuleOp module);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_AFFINEFOLDS_H
