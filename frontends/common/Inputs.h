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

/// An input of the model: an argument of the network, or a constant if the user
/// gives its value at compile time.
struct Input {
  std::string name;
  mlir::RankedTensorType type; ///< null if it is unknown
  bool isRebound;              ///< the user gave sizes for open dimensions
  /// The input's value if the user gives it at compile time, otherwise null.
  /// The network has no argument for such an input.
  mlir::ElementsAttr value = {};
  /// True if ImportOptions::takesOneSample gave the input one sample.
  bool isOneSample = false;
  /// The dimensions of an input with some open dimensions, which have been
  /// reported.
  std::optional<TensorInfo> open = std::nullopt;
};

/// Binds the open dimensions of the model's inputs by the user's shapes. A size
/// for a named dimension holds for all dimensions of that name. Reports
/// dimensions that stay open, with the flag to pass, and tensors that cannot be
/// inputs. Sets the value of inputs for which the user gives one.
std::vector<Input> bindInputs(llvm::ArrayRef<TensorInfo> inputs,
                              const GivenShapes &shapes,
                              const ImportOptions &options, Problems &problems);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_INPUTS_H
