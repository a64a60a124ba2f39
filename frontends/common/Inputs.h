//===- Inputs.h - Shapes of the network's inputs --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_INPUTS_H
#define NNC_FRONTENDS_COMMON_INPUTS_H

#include "frontends/common/Import.h"
#include "frontends/common/Problems.h"
#include "frontends/common/TensorInfo.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnc::frontends {

/// A tensor that the user passes in, or gives when compiling.
struct Input {
  std::string name;
  mlir::RankedTensorType type; ///< null where it is not known
  bool isRebound; ///< the user gave sizes that the model leaves open
  /// Its value, if that is known: then the module does not take it.
  mlir::ElementsAttr value = {};
  /// Whether it holds one sample by ImportOptions::takesOneSample.
  bool isOneSample = false;
  /// The dimensions that are known, where others have been reported as open.
  std::optional<TensorInfo> open = std::nullopt;
};

/// Binds the open dimensions of the model's inputs by the user's shapes. An
/// open dimension that has a name is bound wherever that name stands. Reports
/// what stays open, with the flag to pass, and what cannot be an input. Inputs
/// with one of the user's values hold it.
std::vector<Input> bindInputs(llvm::ArrayRef<TensorInfo> inputs,
                              const GivenShapes &shapes,
                              const ImportOptions &options, Problems &problems);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_INPUTS_H
