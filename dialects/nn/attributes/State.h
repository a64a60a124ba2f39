//===- State.h - Values that a function keeps between runs ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// An argument of a function is state if it has the attribute `nn.state`, whose
// value is the index of the result that holds the argument's value in the next
// run. The argument and the result have the same type. Passes treat them as any
// argument and any result; `nnc-plan-memory` gives both the same place in
// memory that the caller keeps. `nn.initial` holds the elements of the first
// run; they are zero without it.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ATTRIBUTES_STATE_H
#define NNC_DIALECTS_NN_ATTRIBUTES_STATE_H

#include "dialects/nn/attributes/Attributes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace nnc::nn {

/// Returns the index of the result that holds the value of the argument in the
/// next run, or nullopt if the argument is not state.
std::optional<unsigned> getNextValue(mlir::FunctionOpInterface function,
                                     unsigned argument);

/// Returns the index of the state argument whose value in the next run is the
/// result number `result`, or nullopt if that result is an output of the model.
std::optional<unsigned> getStateOf(mlir::FunctionOpInterface function,
                                   unsigned result);

/// Returns the elements that a state argument has in the first run, or null if
/// all of them are zero.
mlir::ElementsAttr getInitialValue(mlir::FunctionOpInterface function,
                                   unsigned argument);

/// Checks that the result that holds the next value of a state argument has the
/// type of the argument and is not used by an earlier state argument. Emits an
/// error otherwise. The verifier of nn.state calls this function.
mlir::LogicalResult verifyState(mlir::FunctionOpInterface function,
                                unsigned argument);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ATTRIBUTES_STATE_H
