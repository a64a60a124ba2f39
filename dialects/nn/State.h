//===- State.h - Values that a function keeps between runs ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// An argument of a function is state if it has the attribute `nn.state`, the
// number of the result that is its value in the next run. Both have the same
// type. Passes treat them as any argument and any result;
// `nnc-plan-memory` gives them one place, in memory that the caller keeps.
// `nn.initial` holds the elements of the first run; they are zero without it.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STATE_H
#define NNC_DIALECTS_NN_STATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace nnc::nn {

inline constexpr llvm::StringLiteral kStateAttr = "nn.state";
inline constexpr llvm::StringLiteral kInitialAttr = "nn.initial";

/// Returns the number of the result that is the next value of the argument, or
/// nullopt if the argument is not state.
std::optional<unsigned> getNextValue(mlir::FunctionOpInterface function,
                                     unsigned argument);

/// Returns the number of the argument whose next value the result is, or
/// nullopt if it is an output of the model.
std::optional<unsigned> getStateOf(mlir::FunctionOpInterface function,
                                   unsigned result);

/// Returns the elements of the first run, or null if all are zero.
mlir::ElementsAttr getInitialValue(mlir::FunctionOpInterface function,
                                   unsigned argument);

/// Checks that each state has a next value of its own type, and no other state
/// the same one. Emits an error where that is not so.
mlir::LogicalResult verifyStates(mlir::FunctionOpInterface function);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_STATE_H
