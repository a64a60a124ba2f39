//===- DecidingInputs.h - Inputs that decide which branch runs --*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_DECIDINGINPUTS_H
#define NNC_FRONTENDS_COMMON_DECIDINGINPUTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace nnc::frontends {

/// The one-element inputs that alone determine a condition, such as a sample
/// rate. The user can make the condition known at compile time with --value.
struct DecidingInputs {
  std::vector<std::string> names;
  /// If one input decides: a value of it that makes the condition false, then
  /// one that makes it true, spelled as for --value. Empty if none was found.
  std::string values[2];

  /// Returns the command line options that give the condition the value
  /// `wanted`.
  std::string getOptions(bool wanted) const;
};

/// Finds the inputs of the network that alone determine the truth value
/// `condition`; returns nullopt if it depends on other values, too.
/// `getOutside` maps an argument of a function that is being imported to the
/// value outside that it stands for, or to null.
std::optional<DecidingInputs> findDecidingInputs(
    mlir::Value condition,
    llvm::function_ref<mlir::Value(mlir::BlockArgument)> getOutside);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_DECIDINGINPUTS_H
