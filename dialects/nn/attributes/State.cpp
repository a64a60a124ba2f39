//===- State.cpp - Values that a function keeps between runs --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/attributes/State.h"

using namespace mlir;
using namespace nnc;

std::optional<unsigned> nn::getNextValue(FunctionOpInterface function,
                                         unsigned argument) {
  auto next = function.getArgAttrOfType<IntegerAttr>(argument, kStateAttr);
  if (!next || next.getInt() < 0 || next.getInt() >= function.getNumResults())
    return std::nullopt;
  return next.getInt();
}

std::optional<unsigned> nn::getStateOf(FunctionOpInterface function,
                                       unsigned result) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (getNextValue(function, i) == result)
      return i;
  return std::nullopt;
}

ElementsAttr nn::getInitialValue(FunctionOpInterface function,
                                 unsigned argument) {
  return function.getArgAttrOfType<ElementsAttr>(argument, kInitialAttr);
}

LogicalResult nn::verifyState(FunctionOpInterface function, unsigned argument) {
  std::optional<unsigned> next = getNextValue(function, argument);
  if (!next)
    return function.emitError("argument ")
           << argument << " is state, but '" << kStateAttr
           << "' is not the number of a result";
  Type type = function.getArgumentTypes()[argument];
  if (function.getResultTypes()[*next] != type)
    return function.emitError("argument ")
           << argument << " is state of type " << type
           << ", but its next value is a " << function.getResultTypes()[*next];
  if (getStateOf(function, *next) != argument)
    return function.emitError("result ")
           << *next << " is the next value of two arguments";
  ElementsAttr initial = getInitialValue(function, argument);
  if (initial && initial.getShapedType() != type)
    return function.emitError("argument ")
           << argument << " is state of type " << type
           << ", but its first value is a " << initial.getShapedType();
  return success();
}
