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

/// Returns the range of the integers that a float of 32 bits or an integer type
/// represents exactly.
static std::pair<int64_t, int64_t> getExactRange(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return getIntegerRange(integer);
  return {-(int64_t(1) << 24), int64_t(1) << 24};
}

LogicalResult RequantizeOp::verify() {
  Type multiplier = getElementTypeOrSelf(getMultiplier().getType());
  Type result = getElementTypeOrSelf(getY().getType());
  IntegerType from = getIntegerType(getX()), to = getIntegerType(getY());
  bool isReal = getRescale() == Rescale::real;
  const bool isOfParts = getRescale() == Rescale::parts;
  if ((!from && !isOfParts) || (!to && !(isReal && result.isF32())))
    return emitOpError("rescales integers to integers");
  if (getElement().has_value() != getLow().has_value() ||
      getElement().has_value() != getHigh().has_value() ||
      (!getElement() && (isReal || isOfParts || getZeroPoint() != 0)))
    return emitOpError("needs an element type and both ends of its range");
  if (saturates()) {
    auto [least, most] = getExactRange(result);
    auto [low, high] = getRange();
    if ((to && to.getWidth() > 32) || low < least || high > most || low > high)
      return emitOpError("limits results to the range from ")
             << low << " to " << high << ", which " << result
             << " does not have";
  }
  Type shift = getShift() ? getElementTypeOrSelf(getShift().getType()) : Type();
  if (isOfParts) {
    if (!getElementTypeOrSelf(getX().getType()).isF32() ||
        !multiplier.isF32() || !shift || !shift.isF32() || to.getWidth() > 16)
      return emitOpError("needs three operands of f32, and a result of at most "
                         "16 bits");
    auto isOne = [](Value value) {
      auto tensor = dyn_cast<RankedTensorType>(value.getType());
      return !tensor || tensor.getNumElements() == 1;
    };
    if (!isOne(getMultiplier()) || !isOne(getShift()))
      return emitOpError("needs a single factor");
    return success();
  }
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
  case Rescale::parts:
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
  case Rescale::parts:
    return "requantize_parts";
  }
  llvm_unreachable("a way to rescale that has no function");
}

SmallVector<StringRef> RequantizeOp::getSteps() {
  SmallVector<StringRef> steps;
  bool isMoved = getZeroPoint() != 0;
  if (getRescale() == Rescale::parts) {
    steps = {"clip", "mul", "mul", "add", "cast"};
    if (isMoved)
      steps.push_back("add");
    return steps;
  }
  if (getRescale() == Rescale::real) {
    steps = {"cast", "mul"};
    if (getShift())
      steps.push_back("add");
    steps.push_back("round");
    if (isMoved)
      steps.push_back("add");
    IntegerType to = getIntegerType(getY());
    if (!to || getRange() != getIntegerRange(to))
      steps.push_back("clip");
    if (to)
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
