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

#ifndef NNC_DIALECTS_NN_ATTRIBUTES_STATE_H
#define NNC_DIALECTS_NN_ATTRIBUTES_STATE_H

#include "dialects/nn/attributes/Attributes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace nnc::nn {

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

/// Checks that a state has a next value of its own type, and no earlier state
/// the same one. Emits an error where that is not so. The verifier of nn.state
/// calls it.
mlir::LogicalResult verifyState(mlir::FunctionOpInterface function,
                                unsigned argument);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ATTRIBUTES_STATE_H
