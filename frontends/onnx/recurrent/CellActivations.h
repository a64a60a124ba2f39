//===- CellActivations.h - Activations of recurrent layers ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_RECURRENT_CELLACTIVATIONS_H
#define NNC_FRONTENDS_ONNX_RECURRENT_CELLACTIVATIONS_H

#include "dialects/nn/Nn.h"

#include <optional>
#include <string>
#include <vector>

namespace nnc::onnx {

/// The activations of one direction of a recurrent layer, and their parameters.
struct CellActivations {
  llvm::SmallVector<nn::CellActivation> kinds;
  llvm::SmallVector<double> numbers; ///< alpha and beta of each
};

/// The attributes of a recurrent node on its activations; any may be empty.
struct GivenActivations {
  llvm::ArrayRef<std::string> names;
  llvm::ArrayRef<double> alphas, betas;
};

/// Returns the activations of each direction, filled up to three per direction.
/// Returns nullopt if they are not valid, and sets the reason as the end of a
/// sentence.
std::optional<std::vector<CellActivations>>
readActivations(const GivenActivations &given, nn::CellKind kind,
                int64_t directions, std::string &why);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_RECURRENT_CELLACTIVATIONS_H
