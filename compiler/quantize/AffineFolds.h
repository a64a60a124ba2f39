//===- AffineFolds.h - Scales and shifts that weights take up ---*- C++ -*-===//
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
/// whose scales and shifts can become part of its weights and its bias.
struct AffineFold {
  std::string layer; ///< its name in the model
  /// The names of the nodes behind it, in order, each the only reader of the
  /// one before.
  std::vector<std::string> nodes;
  /// The factor of each output channel's weights, and the bias that the layer
  /// has then, its own one included; or one for all.
  std::vector<double> scale, shift;
};

/// Finds the folds that nnc makes of the main function of an imported model
/// (patterns/AffineChain.h says which), for those who edit the model's file.
std::vector<AffineFold> findFolds(mlir::ModuleOp module);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_AFFINEFOLDS_H
