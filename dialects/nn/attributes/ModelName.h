//===- ModelName.h - Names that a model gives to its parts ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ATTRIBUTES_MODELNAME_H
#define NNC_DIALECTS_NN_ATTRIBUTES_MODELNAME_H

#include "mlir/IR/Location.h"

namespace nnc::nn {

/// Returns the model's name for what lies at `location`, which is the first
/// name within the location, or `fallback` if it has none.
llvm::StringRef getModelName(mlir::Location location,
                             llvm::StringRef fallback = "");

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ATTRIBUTES_MODELNAME_H
