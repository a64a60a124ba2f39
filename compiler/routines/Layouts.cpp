//===- Layouts.cpp - Bringing values into layouts -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Layouts.h"

#include "compiler/routines/LayerForms.h"

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

static Value createBehind(ConstantOp constant, RankedTensorType type) {
  OpBuilder builder(constant->getContext());
  builder.setInsertionPointAfter(constant);
  return builder.create<ConstantOp>(constant.getLoc(), type,
                                    constant.getValue());
}

/// Returns the type of the copy from which the copy of `value` as `type` is
/// made.
RankedTensorType OperandAdapter::findStep(Value value,
                                          RankedTensorType type) const {
  auto own = getTensorType(value);
  if (RankedTensorType from = steps.lookup({value, type}))
    return from;
  if (!paths)
    return own;
  Type element = own.getElementType();
  if (isa<IntegerType>(type.getElementType()))
    element = type.getElementType();
  SmallVector<RankedTensorType> path = paths->getPath(own, type, element);
  return path.size() > 1 ? path[path.size() - 2] : own;
}

/// Converts `value` to `type` in one step (AdaptPaths.h).
Value OperandAdapter::adapt(Value value, RankedTensorType type) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  if (getTensorType(value).getElementType() == type.getElementType()) {
    auto adapt = builder.create<AdaptOp>(value.getLoc(), type, value);
    chooseRoutine(adapt, cost);
    return adapt;
  }
  if (!names) {
    names.emplace();
    for (LayerOp layer : value.getParentBlock()->getOps<LayerOp>())
      names->take(layer.getName(), /*isCall=*/true);
  }
  Value made = value;
  while (isa_and_nonnull<ReshapeOp, AdaptOp>(made.getDefiningOp()))
    made = made.getDefiningOp()->getOperand(0);
  auto maker = made.getDefiningOp<LayerOp>();
  Type element = type.getElementType();
  std::string name = names->addCall(maker ? maker.getName() : "input",
                                    element.isF16()    ? "_f16"
                                    : element.isBF16() ? "_bf16"
                                    : element.isF32()  ? "_f32"
                                                       : "_integers");
  LayerOp layer = cost.getForms()->createCast(builder, value.getLoc(), name,
                                              value, element);
  const Candidate &choice =
      paths->getCast(getTensorType(value), type)->candidate;
  layer.getY().setType(type);
  layer.setRoutine(choice.routine->name);
  if (!choice.params.empty())
    layer.setParams(choice.params);
  return layer.getY();
}

Value OperandAdapter::getAs(Value value, RankedTensorType type) {
  if (value.getType() == type)
    return value;
  if (Value copy = copies.lookup({value, type}))
    return copy;
  Value copy;
  if (auto constant = value.getDefiningOp<ConstantOp>())
    copy = createBehind(constant, type);
  else
    copy = adapt(getAs(value, findStep(value, type)), type);
  copies[{value, type}] = copy;
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
