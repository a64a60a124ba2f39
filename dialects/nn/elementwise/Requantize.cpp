//===- Requantize.cpp - Integers on another scale -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/IntegerRange.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static IntegerType getIntegerType(Value value) {
  return dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
}

LogicalResult RequantizeOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  if (failed(inferElementwise(location, adaptor.getOperands(), "first", types)))
    return failure();
  TypeAttr attribute = adaptor.getElementAttr();
  // When the parser calls this, the attribute is only in the dictionary.
  if (DictionaryAttr all = adaptor.getAttributes(); !attribute && all)
    attribute = all.getAs<TypeAttr>("element");
  if (!attribute)
    return success();
  Type element = attribute.getValue();
  auto tensor = dyn_cast<RankedTensorType>(types.front());
  types.front() = tensor ? Type(tensor.clone(element)) : element;
  return success();
}

LogicalResult RequantizeOp::verify() {
  Type multiplier = getElementTypeOrSelf(getMultiplier().getType());
  IntegerType from = getIntegerType(getX()), to = getIntegerType(getY());
  if (!from || !to)
    return emitOpError("rescales integers to integers");
  bool isReal = getRescale() == Rescale::real;
  if (getElement().has_value() != getLow().has_value() ||
      getElement().has_value() != getHigh().has_value() ||
      (!getElement() && (isReal || getZeroPoint() != 0)))
    return emitOpError("needs an element type and both ends of its range");
  if (saturates()) {
    auto [least, most] = getIntegerRange(to);
    auto [low, high] = getRange();
    if (to.getWidth() > 32 || low < least || high > most || low > high)
      return emitOpError("limits results to the range from ")
             << low << " to " << high << ", which " << to << " does not have";
  }
  Type shift = getShift() ? getElementTypeOrSelf(getShift().getType()) : Type();
  if (isReal) {
    if (from.getWidth() > 32 || !multiplier.isF32() ||
        (shift && !shift.isF32()))
      return emitOpError("needs integers of at most 32 bits, and f32");
    return success();
  }
  bool isWide = from.isSignlessInteger(64) && getRescale() == Rescale::wide;
  if (multiplier != from || shift != from ||
      (!from.isSignlessInteger(32) && !isWide))
    return emitOpError("needs three operands of i32");
  return success();
}

/// Returns the name of the function that multiplies by a fixed-point factor
/// with this rounding.
static StringRef getProduct(Rescale rescale) {
  switch (rescale) {
  case Rescale::double_rounding:
    return "rescale_double";
  case Rescale::single_rounding:
    return "rescale_single";
  case Rescale::wide:
    return "rescale_wide";
  case Rescale::real:
    break;
  }
  llvm_unreachable("a real factor is no fixed-point number");
}

StringRef RequantizeOp::getFunction() {
  if (!saturates())
    return getProduct(getRescale());
  switch (getRescale()) {
  case Rescale::real:
    return "requantize_real";
  case Rescale::double_rounding:
    return "requantize_double";
  case Rescale::single_rounding:
    return "requantize_single";
  case Rescale::wide:
    return "requantize_wide";
  }
  llvm_unreachable("a way to rescale that has no function");
}

SmallVector<StringRef> RequantizeOp::getSteps() {
  SmallVector<StringRef> steps;
  bool isMoved = getZeroPoint() != 0;
  if (getRescale() == Rescale::real) {
    steps = {"cast", "mul"};
    if (getShift())
      steps.push_back("add");
    steps.push_back("round");
    if (isMoved)
      steps.push_back("add");
    if (getRange() != getIntegerRange(getIntegerType(getY())))
      steps.push_back("clip");
    steps.push_back("cast");
    return steps;
  }
  steps.push_back(getProduct(getRescale()));
  if (!saturates())
    return steps;
  if (getIntegerType(getX()).getWidth() > 32)
    steps.push_back("cast");
  if (isMoved)
    steps.push_back("add");
  steps.append({"max", "min", "cast"});
  return steps;
}

SmallVector<double> RequantizeOp::getScalars() { return {}; }
Work RequantizeOp::getWork() { return elementwiseWork(*this); }
