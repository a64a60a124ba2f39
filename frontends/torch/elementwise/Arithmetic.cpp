//===- Arithmetic.cpp - Elementwise operators of several operands ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/elementwise/Elementwise.h"

#include "frontends/common/Atan2.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

using Operand = Node::Operand;

/// Returns `nn.op` of both operands, which have the type `type`. Sums and
/// products of truth values are those of PyTorch: "or" and "and".
static Value compute(Node &node, StringRef op, Value a, Value b) {
  if (!a || !b || !getElement(a).isInteger(1))
    return node.createElementwise(op, {a, b});
  if (op == "add" || op == "max")
    op = "logical_or";
  else if (op == "mul" || op == "min")
    op = "logical_and";
  else
    return node.unsupported("computes with truth values");
  return node.createElementwise(op, {a, b});
}

/// Converts an operator whose operands have one type after promotion.
Value convertBinary(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  return compute(node, node.getNnOp(), node.castTo(a, type),
                 node.castTo(b, type));
}

/// Converts a sum or difference, whose second operand may have a factor.
static Value addScaled(Node &node, StringRef op, const Operand &a,
                       const Operand &b) {
  Type type = node.promote({a, b});
  Value x = node.castTo(a, type), y = node.castTo(b, type);
  auto alpha = node.getScalar("alpha");
  if (alpha && (alpha->isReal || alpha->value || alpha->integer != 1))
    y = node.createElementwise("mul", {y, node.makeScalar(*alpha, type)});
  return compute(node, op, x, y);
}

Value convertAdd(Node &node) {
  return addScaled(node, node.getNnOp(), node.getOperand("self"),
                   node.getOperand("other"));
}
Value convertRsub(Node &node) {
  return addScaled(node, "sub", node.getOperand("other"),
                   node.getOperand("self"));
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// Returns the quotient rounded down.
static Value divideFloor(Node &node, Value a, Value b) {
  if (!a || !b)
    return {};
  if (isa<FloatType>(getElement(a)))
    return node.createElementwise("floor",
                                  {node.createElementwise("div", {a, b})});
  // a - a mod b is a multiple of b, because the remainder has the sign of b.
  Value whole =
      node.createElementwise("sub", {a, node.createElementwise("mod", {a, b})});
  return node.createElementwise("div", {whole, b});
}

/// Returns the quotient without its fraction.
static Value divideTrunc(Node &node, Value a, Value b) {
  Value quotient = node.createElementwise("div", {a, b});
  if (!quotient || !isa<FloatType>(getElement(quotient)))
    return quotient;
  Value isNegative = node.createElementwise(
      "less", {quotient, node.splat(0, getElement(quotient))});
  return node.createElementwise(
      "select", {isNegative, node.createElementwise("ceil", {quotient}),
                 node.createElementwise("floor", {quotient})});
}

Value convertDiv(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  if (!type)
    return {};
  StringRef mode = node.getString("rounding_mode");
  if (mode.empty() && !isa<FloatType>(type))
    type = node.getBuilder().getF32Type();
  Value x = node.castTo(a, type), y = node.castTo(b, type);
  if (mode.empty())
    return node.createElementwise("div", {x, y});
  if (mode == "floor")
    return divideFloor(node, x, y);
  if (mode == "trunc")
    return divideTrunc(node, x, y);
  return node.broken("has the rounding_mode '" + mode + "'");
}

Value convertFloorDivide(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  return divideFloor(node, node.castTo(a, type), node.castTo(b, type));
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

Value convertPow(Node &node) {
  Operand base = node.getOperand("self"),
          exponent = node.getOperand("exponent");
  Type type = node.promote({base, exponent});
  Value x = node.castTo(base, type);
  if (!x)
    return {};
  // Small powers are products, which are faster and exact.
  if (exponent.number && !exponent.number->value) {
    double power = exponent.number->real;
    if (power == 1)
      return x;
    if (power == 2)
      return node.createElementwise("mul", {x, x});
    if (power == 3)
      return node.createElementwise("mul",
                                    {node.createElementwise("mul", {x, x}), x});
    if (isa<FloatType>(type) && power == 0.5)
      return node.createElementwise("sqrt", {x});
    if (isa<FloatType>(type) && power == -0.5)
      return node.createElementwise("rsqrt", {x});
    if (isa<FloatType>(type) && power == -1)
      return node.createElementwise("reciprocal", {x});
  }
  return node.createElementwise("pow", {x, node.castTo(exponent, type)});
}

/// Converts float_power, which computes in f64.
Value convertFloatPower(Node &node) {
  Type type = node.getBuilder().getF64Type();
  return node.createElementwise(
      "pow", {node.castTo(node.getOperand("self"), type),
              node.castTo(node.getOperand("exponent"), type)});
}

Value convertHypot(Node &node) {
  Value a = node.toReal(node.getTensor("self")),
        b = node.toReal(node.getTensor("other"));
  return node.createElementwise(
      "sqrt",
      {node.createElementwise("add", {node.createElementwise("mul", {a, a}),
                                      node.createElementwise("mul", {b, b})})});
}

Value convertAtan2(Node &node) {
  return computeAtan2(node, node.toReal(node.getTensor("self")),
                      node.toReal(node.getTensor("other")));
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// Converts a comparison. The nn op "not_equal" stands for a negated "equal".
Value convertComparison(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  if (!type)
    return {};
  if (type.isInteger(1))
    type = node.getBuilder().getIntegerType(8, /*isSigned=*/false);
  StringRef op = node.getNnOp();
  bool isNegated = op == "not_equal";
  Value y = node.createElementwise(
      isNegated ? "equal" : op, {node.castTo(a, type), node.castTo(b, type)});
  return isNegated ? node.createElementwise("logical_not", {y}) : y;
}

/// Converts clamp and its one-sided forms. The bounds, `min` and `max`, are
/// numbers or tensors.
Value convertClamp(Node &node) {
  Operand x = node.getOperand("self");
  SmallVector<Operand> all = {x};
  if (node.has("min"))
    all.push_back(node.getOperand("min"));
  if (node.has("max"))
    all.push_back(node.getOperand("max"));
  Type type = node.promote(all);
  Value y = node.castTo(x, type);
  if (!y)
    return {};
  auto isKnown = [](const Operand &bound) {
    return bound.number && !bound.number->value && !bound.number->isOfSizes;
  };
  // One op, which has kernels of its own, for numbers that sizes do not change.
  if (isa<FloatType>(type) && all.size() == 3 && isKnown(all[1]) &&
      isKnown(all[2]) && !std::isnan(all[1].number->real) &&
      !std::isnan(all[2].number->real)) {
    Builder &builder = node.getBuilder();
    return node.createElementwise(
        "clip", {y},
        {builder.getNamedAttr("min",
                              builder.getF64FloatAttr(all[1].number->real)),
         builder.getNamedAttr("max",
                              builder.getF64FloatAttr(all[2].number->real))});
  }
  size_t next = 1;
  if (node.has("min"))
    y = node.createElementwise("max", {y, node.castTo(all[next++], type)});
  if (node.has("max"))
    y = node.createElementwise("min", {y, node.castTo(all[next], type)});
  return y;
}

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

Value convertWhere(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  Value condition =
      node.castTo(node.getTensor("condition"), node.getBuilder().getI1Type());
  return node.createElementwise(
      "select", {condition, node.castTo(a, type), node.castTo(b, type)});
}

Value convertMaskedFill(Node &node) {
  Value x = node.getTensor("self"), mask = node.getTensor("mask");
  Operand value = node.getOperand("value");
  if (!x || !mask)
    return {};
  if (value.tensor)
    value.tensor = node.reshape(value.tensor, {});
  return node.createElementwise(
      "select", {node.castTo(mask, node.getBuilder().getI1Type()),
                 node.castTo(value, getElement(x)), x});
}

/// Converts copysign: the size of one number with the sign of another. Zeros
/// count as positive.
Value convertCopysign(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  if (type && !isa<FloatType>(type))
    type = node.getBuilder().getF32Type();
  Value size = node.createElementwise("abs", {node.castTo(a, type)});
  Value sign = node.castTo(b, type);
  if (!size || !sign)
    return {};
  return node.createElementwise(
      "select", {node.createElementwise("less", {sign, node.splat(0, type)}),
                 node.createElementwise("neg", {size}), size});
}

/// Converts isin: whether an element is among those of a list.
Value convertIsIn(Node &node) {
  Operand a = node.getOperand("elements"),
          b = node.getOperand(node.has("test_elements") ? "test_elements"
                                                        : "test_element");
  Type type = node.promote({a, b});
  Value x = node.castTo(a, type), list = node.castTo(b, type);
  if (!x || !list)
    return {};
  Value equal = node.createElementwise(
      "equal", {node.unsqueeze(x, getRank(x)),
                node.reshape(list, {getNumElements(list)})});
  Value count = node.create<nn::ReduceOp>(
      nn::ReduceKind::max,
      node.castTo(equal, node.getBuilder().getIntegerType(8, false)),
      ArrayRef<int64_t>{getRank(x)}, false);
  Value is = node.castTo(count, node.getBuilder().getI1Type());
  return node.getBool("invert") ? node.createElementwise("logical_not", {is})
                                : is;
}

/// Converts lerp: start + weight * (end - start).
Value convertLerp(Node &node) {
  Value a = node.getTensor("self"), b = node.getTensor("end");
  Operand weight = node.getOperand("weight");
  if (!a)
    return {};
  Value difference = node.createElementwise("sub", {b, a});
  return node.createElementwise(
      "add", {a, node.createElementwise(
                     "mul", {difference, node.castTo(weight, getElement(a))})});
}

/// Converts addcmul and addcdiv: self + value * (tensor1 op tensor2).
Value convertAddScaledPair(Node &node) {
  Operand x = node.getOperand("self"), a = node.getOperand("tensor1"),
          b = node.getOperand("tensor2");
  Type type = node.promote({x, a, b});
  Value pair = node.createElementwise(
      node.getNnOp(), {node.castTo(a, type), node.castTo(b, type)});
  if (auto factor = node.getScalar("value"))
    pair =
        node.createElementwise("mul", {pair, node.makeScalar(*factor, type)});
  return node.createElementwise("add", {node.castTo(x, type), pair});
}

Value computeLogAddExp(Node &node, Value a, Value b, double scale) {
  Value high = node.createElementwise("max", {a, b}),
        low = node.createElementwise("min", {a, b});
  if (!high || !low)
    return {};
  // Equal operands, which may be infinite, have the difference 0.
  Value difference = node.createElementwise(
      "select",
      {node.createElementwise("equal", {a, b}), node.splat(0, getElement(high)),
       node.createElementwise("sub", {low, high})});
  Value rest = node.createElementwise(
      "exp",
      {scale == 1 ? difference : node.createBinary("mul", difference, scale)});
  Value more =
      node.createElementwise("log", {node.createBinary("add", rest, 1)});
  return node.createElementwise(
      "add", {high, scale == 1 ? more : node.createBinary("div", more, scale)});
}

/// Converts the logarithm of a sum of powers, of base e or 2.
Value convertLogAddExp(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  bool isOfTwo = node.getOp().starts_with("logaddexp2");
  return computeLogAddExp(node, node.toReal(node.castTo(a, type)),
                          node.toReal(node.castTo(b, type)),
                          isOfTwo ? std::log(2.0) : 1);
}

/// Converts x * log(y), which is 0 where x is 0.
Value convertXlogy(Node &node) {
  Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  if (type && !isa<FloatType>(type))
    type = node.getBuilder().getF32Type();
  Value x = node.castTo(a, type);
  if (!x)
    return {};
  Value zero = node.splat(0, type), other = node.castTo(b, type);
  if (node.getOp().starts_with("special_xlog1py"))
    other = node.createBinary("add", other, 1);
  Value y = node.createElementwise("mul",
                                   {x, node.createElementwise("log", {other})});
  return node.createElementwise(
      "select", {node.createElementwise("equal", {x, zero}), zero, y});
}

} // namespace nnc::torch
