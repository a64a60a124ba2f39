//===- Elementwise.cpp - Functions of each element ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Converts a function of real numbers; integers become float32.
Value convertReal(Node &node) {
  return node.createElementwise(node.getNnOp(),
                                {node.toReal(node.getTensor("self"))});
}

/// Converts a function that keeps the type of its operand.
Value convertSame(Node &node) {
  return node.createElementwise(node.getNnOp(), {node.getTensor("self")});
}

/// Converts a rounding; integers stay as they are.
Value convertRounding(Node &node) {
  Value x = node.getTensor("self");
  return x && isa<FloatType>(getElement(x))
             ? node.createElementwise(node.getNnOp(), {x})
             : x;
}

Value convertRoundDecimals(Node &node) {
  Value x = node.getTensor("self");
  double factor = std::pow(10.0, static_cast<double>(node.getInt("decimals")));
  if (!std::isfinite(factor) || factor == 0)
    return node.unsupported("rounds to a number of decimals beyond a float's");
  Value scaled = node.createBinary("mul", node.toReal(x), factor);
  return node.createBinary("div", node.createElementwise("round", {scaled}),
                           factor);
}

/// Returns the part of `x` in front of its fraction.
static Value truncate(Node &node, Value x) {
  if (!x || !isa<FloatType>(getElement(x)))
    return x;
  Value isNegative =
      node.createElementwise("less", {x, node.splat(0, getElement(x))});
  return node.createElementwise(
      "select", {isNegative, node.createElementwise("ceil", {x}),
                 node.createElementwise("floor", {x})});
}

Value convertTrunc(Node &node) {
  return truncate(node, node.getTensor("self"));
}

Value convertFrac(Node &node) {
  Value x = node.getTensor("self");
  return node.createElementwise("sub", {x, truncate(node, x)});
}

Value convertSquare(Node &node) {
  Value x = node.getTensor("self");
  return node.createElementwise("mul", {x, x});
}

/// Converts a function that is `factor` times a function of nn.
static Value scale(Node &node, StringRef op, double factor) {
  Value x = node.toReal(node.getTensor("self"));
  return node.createBinary("mul", node.createElementwise(op, {x}), factor);
}

Value convertLog2(Node &node) { return scale(node, "log", 1 / std::log(2.0)); }
Value convertLog10(Node &node) {
  return scale(node, "log", 1 / std::log(10.0));
}
Value convertLog1p(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  return node.createElementwise("log", {node.createBinary("add", x, 1)});
}
Value convertExp2(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  return node.createElementwise("exp",
                                {node.createBinary("mul", x, std::log(2.0))});
}
/// Converts e^x - 1 as 2 * sinh(x / 2) * e^(x / 2), which is exact for small x.
Value convertExpm1(Node &node) {
  Value half =
      node.createBinary("mul", node.toReal(node.getTensor("self")), 0.5);
  return node.createBinary(
      "mul",
      node.createElementwise("mul", {node.createElementwise("sinh", {half}),
                                     node.createElementwise("exp", {half})}),
      2);
}
Value convertErfc(Node &node) {
  Value y =
      node.createElementwise("erf", {node.toReal(node.getTensor("self"))});
  return y ? node.createElementwise("sub", {node.splat(1, getElement(y)), y})
           : y;
}
Value convertLdexp(Node &node) {
  Value x = node.toReal(node.getTensor("self")),
        exponent = node.castTo(node.getTensor("other"), getElement(x));
  return x && exponent
             ? node.createElementwise(
                   "mul",
                   {x, node.createElementwise(
                           "pow", {node.splat(2, getElement(x)), exponent})})
             : Value();
}
Value convertDeg2Rad(Node &node) {
  return node.createBinary("mul", node.toReal(node.getTensor("self")),
                           M_PI / 180);
}
Value convertRad2Deg(Node &node) {
  return node.createBinary("mul", node.toReal(node.getTensor("self")),
                           180 / M_PI);
}

Value convertLogit(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  if (!x)
    return {};
  if (node.has("eps")) {
    double eps = node.getFloat("eps");
    x = node.createBinary("min", node.createBinary("max", x, eps), 1 - eps);
  }
  Value rest = node.createElementwise("sub", {node.splat(1, getElement(x)), x});
  return node.createElementwise("log",
                                {node.createElementwise("div", {x, rest})});
}

//===----------------------------------------------------------------------===//
// Tests of numbers
//===----------------------------------------------------------------------===//

/// Returns whether elements are NaN or infinite, as `op` says; integers are
/// neither.
static Value test(Node &node, StringRef op, Value x) {
  if (x && !isa<FloatType>(getElement(x)))
    return node.splat(0, node.getBuilder().getI1Type(), getShape(x));
  return node.createElementwise(op, {x});
}

Value convertTest(Node &node) {
  return test(node, node.getNnOp(), node.getTensor("self"));
}

Value convertIsFinite(Node &node) {
  Value x = node.getTensor("self");
  return node.createElementwise(
      "logical_not",
      {node.createElementwise(
          "logical_or", {test(node, "is_nan", x), test(node, "is_inf", x)})});
}

Value convertSignbit(Node &node) {
  Value x = node.getTensor("self");
  return x ? node.createElementwise("less", {x, node.splat(0, getElement(x))})
           : x;
}

Value convertNanToNum(Node &node) {
  Value x = node.getTensor("self");
  if (!x || !isa<FloatType>(getElement(x)))
    return x;
  Type element = getElement(x);
  double most = element.isF64() ? std::numeric_limits<double>::max()
                                : std::numeric_limits<float>::max();
  auto replace = [&](Value where, double by) {
    x = node.createElementwise("select", {where, node.splat(by, element), x});
  };
  Value isNan = test(node, "is_nan", x), isInf = test(node, "is_inf", x),
        isPositive =
            node.createElementwise("greater", {x, node.splat(0, element)});
  Value isHigh = node.createElementwise("logical_and", {isInf, isPositive}),
        isLow = node.createElementwise(
            "logical_and",
            {isInf, node.createElementwise("logical_not", {isPositive})});
  replace(isNan, node.getFloat("nan", 0));
  replace(isHigh, node.getFloat("posinf", most));
  replace(isLow, node.getFloat("neginf", -most));
  return x;
}

//===----------------------------------------------------------------------===//
// Truth values and bits
//===----------------------------------------------------------------------===//

static Value toBool(Node &node, Value x) {
  return node.castTo(x, node.getBuilder().getI1Type());
}

Value convertLogicalNot(Node &node) {
  return node.createElementwise("logical_not",
                                {toBool(node, node.getTensor("self"))});
}

Value convertLogical(Node &node) {
  return node.createElementwise(node.getNnOp(),
                                {toBool(node, node.getTensor("self")),
                                 toBool(node, node.getTensor("other"))});
}

Value convertBitNot(Node &node) {
  Value x = node.getTensor("self");
  return node.createElementwise(
      x && getElement(x).isInteger(1) ? "logical_not" : "bit_not", {x});
}

/// Converts an operator on bits, which of truth values is the logical one.
Value convertBits(Node &node) {
  Node::Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  if (!type)
    return {};
  if (isa<FloatType>(type))
    return node.broken("works on the bits of floats");
  std::string op = node.getNnOp().str();
  if (type.isInteger(1))
    op = "logical_" + StringRef(op).drop_front(StringRef("bit_").size()).str();
  return node.createElementwise(op,
                                {node.castTo(a, type), node.castTo(b, type)});
}

/// Returns x shifted by the numbers of bits `count`, to the left as a product,
/// otherwise as a quotient that is rounded down.
static Value shiftBy(Node &node, Value x, Value count, bool isLeft) {
  Type type = getElement(x), index = node.getBuilder().getI64Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  // The highest power of two of a signed type has the sign bit alone, and is
  // the least number of the type.
  SmallVector<Attribute> powers;
  for (unsigned i = 0; i < bits; ++i)
    powers.push_back(IntegerAttr::get(type, APInt::getOneBitSet(bits, i)));
  Value table = node.constant(DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(bits)}, type), powers));
  count = node.castTo(count, index);
  Value last = node.splat(bits - 1, index), zero = node.splat(0, type);
  // PyTorch shifts by more bits than a number has as by all of them.
  Value isBeyond = node.createElementwise(
      "logical_or",
      {node.createElementwise("greater", {count, last}),
       node.createElementwise("less", {count, node.splat(0, index)})});
  Value place = node.createElementwise(
      "max",
      {node.createElementwise("min", {count, last}), node.splat(0, index)});
  Value factor = node.create<nn::GatherOp>(table, place, int64_t(0));
  if (!factor || !isBeyond)
    return {};
  if (isLeft)
    return node.createElementwise(
        "select", {isBeyond, zero, node.createElementwise("mul", {x, factor})});
  Value rest = node.createElementwise("mod", {x, factor});
  Value y = node.createElementwise(
      "div", {node.createElementwise("sub", {x, rest}), factor});
  if (type.isUnsignedInteger())
    return node.createElementwise("select", {isBeyond, zero, y});
  // All bits but the sign leave the number.
  Value sign = node.createElementwise(
      "select",
      {node.createElementwise("less", {x, zero}), node.splat(-1, type), zero});
  isBeyond = node.createElementwise(
      "logical_or", {isBeyond, node.createElementwise("equal", {place, last})});
  return node.createElementwise("select", {isBeyond, sign, y});
}

/// Converts a shift as a product or quotient with a power of two. The quotient
/// is rounded down.
Value convertShift(Node &node) {
  Node::Operand a = node.getOperand("self"), b = node.getOperand("other");
  Type type = node.promote({a, b});
  if (!type)
    return {};
  if (!isa<IntegerType>(type) || type.isInteger(1))
    return node.unsupported("shifts the bits of elements that are no integers");
  if (!b.number || b.number->value || b.number->length ||
      b.number->integer < 0 || b.number->integer > 31) {
    Value x = node.castTo(a, type), count = node.castTo(b, type);
    return x && count ? shiftBy(node, x, count, node.getNnOp() == "mul")
                      : Value();
  }
  Value x = node.castTo(a, type),
        factor = node.splat(
            static_cast<double>(int64_t(1) << b.number->integer), type);
  if (node.getNnOp() == "mul")
    return node.createElementwise("mul", {x, factor});
  Value rest = node.createElementwise("mod", {x, factor});
  return node.createElementwise(
      "div", {node.createElementwise("sub", {x, rest}), factor});
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Converts an operator that changes the type of its operand to that of its
/// result. A conversion to floats of 16 bits rounds.
Value convertTo(Node &node) {
  Value x = node.getTensor("self");
  Type to = node.getStatedType();
  if (!to)
    return node.unsupported("has a result of a type that nnc does not handle");
  if (nn::isHalf(to) && node.getTensorType("self") != to)
    return node.roundToHalf(x, cast<FloatType>(to));
  return node.castTo(x, getComputedType(to));
}

/// Converts an operator that gives its operand back.
Value convertIdentity(Node &node) { return node.getTensor("self"); }

/// Converts dropout, which does nothing in inference.
Value convertDropout(Node &node) {
  // The form that works in place has another name for its operand.
  Value x = node.getTensor(node.has("input") ? "input" : "self");
  if (node.getBool("train", /*otherwise=*/node.getOp().starts_with("native")))
    return node.unsupported("drops elements at random, as in training; export "
                            "the model after model.eval()");
  return x;
}

} // namespace nnc::torch
