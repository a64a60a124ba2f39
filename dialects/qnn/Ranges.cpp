//===- Ranges.cpp - Ranges of float values, as calibration found them -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/qnn/Ranges.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

SmallVector<Value> qnn::listValues(func::FuncOp function) {
  SmallVector<Value> values(function.getArguments());
  for (Operation &op : function.getBody().front())
    if (op.getNumResults() == 1)
      values.push_back(op.getResult(0));
  return values;
}

/// Returns the function of an argument.
static func::FuncOp getFunction(BlockArgument argument) {
  return cast<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Returns the attribute that holds the range of a value, or null.
static Attribute getAttribute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return getFunction(argument).getArgAttr(argument.getArgNumber(),
                                            qnn::kRangeAttr);
  return value.getDefiningOp()->getDiscardableAttr(qnn::kRangeAttr);
}

std::optional<qnn::ValueRange> qnn::readRange(Attribute attribute) {
  auto bounds = dyn_cast_or_null<DenseF64ArrayAttr>(attribute);
  if (!bounds || bounds.size() != 2)
    return std::nullopt;
  qnn::ValueRange range{bounds[0], bounds[1]};
  bool isSound = std::isfinite(range.low) && std::isfinite(range.high) &&
                 range.low <= 0 && range.high >= 0;
  return isSound ? std::optional(range) : std::nullopt;
}

std::optional<qnn::ValueRange> qnn::getRange(Value value) {
  return readRange(getAttribute(value));
}

void qnn::setRange(Value value, ValueRange range) {
  auto attribute =
      DenseF64ArrayAttr::get(value.getContext(), {range.low, range.high});
  if (auto argument = dyn_cast<BlockArgument>(value))
    getFunction(argument).setArgAttr(argument.getArgNumber(), kRangeAttr,
                                     attribute);
  else
    value.getDefiningOp()->setDiscardableAttr(kRangeAttr, attribute);
}

void qnn::dropRanges(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, kRangeAttr);
  for (Operation &op : function.getBody().front())
    op.removeDiscardableAttr(kRangeAttr);
}

LogicalResult qnn::verifyRanges(func::FuncOp function) {
  bool isSound = true;
  for (Value value : listValues(function)) {
    Attribute attribute = getAttribute(value);
    if (!attribute || readRange(attribute))
      continue;
    emitError(value.getLoc())
        << kRangeAttr << " is " << attribute << "; it has to be " << kRangeForm;
    isSound = false;
  }
  return success(isSound);
}
