//===- Layouts.cpp - Bringing values into layouts -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Layouts.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

void nnc::chooseRoutine(AdaptOp adapt, const CostModel &cost) {
  AdaptCost best =
      cost.getAdapt(adapt.getX().getType(), adapt.getY().getType());
  adapt.removeRoutineAttr();
  adapt.removeParamsAttr();
  if (!best.routine)
    return;
  adapt.setRoutine(best.routine->name);
  if (!best.params.empty())
    adapt.setParams(best.params);
}

Value OperandAdapter::getAs(Value value, RankedTensorType type) {
  Value &copy = copies[{value, type}];
  if (copy)
    return copy;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    copy = builder.create<ConstantOp>(constant.getLoc(), type,
                                      constant.getValue());
  } else {
    auto adapt = builder.create<AdaptOp>(value.getLoc(), type, value);
    chooseRoutine(adapt, cost);
    copy = adapt;
  }
  return copy;
}

void OperandAdapter::setOperand(OpOperand &operand, RankedTensorType type) {
  Value value = operand.get();
  if (value.getType() == type)
    return;
  if (value.getDefiningOp<ConstantOp>() && value.hasOneUse())
    value.setType(type);
  else
    operand.set(getAs(value, type));
}
