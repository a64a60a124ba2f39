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

/// The inputs of one element each from which alone a condition is computed, as
/// a sample rate is, so that the user can make it known with --value.
struct DecidingInputs {
  std::vector<std::string> names;
  /// A value of the only input with which the condition is false, and one with
  /// which it is true, as --value takes them; empty where none was found.
  std::string values[2];

  /// Returns options of the command line that make the condition `wanted`.
  std::string getOptions(bool wanted) const;
};

/// Finds the inputs that decide `condition`, a truth value; nullopt where
/// anything else does, too. `getOutside` returns the value that an argument of
/// a function of the importer stands for, or null.
std::optional<DecidingInputs> findDecidingInputs(
    mlir::Value condition,
    llvm::function_ref<mlir::Value(mlir::BlockArgument)> getOutside);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_DECIDINGINPUTS_H
