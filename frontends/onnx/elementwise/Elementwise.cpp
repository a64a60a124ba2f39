//===- Elementwise.cpp - Elementwise operators ===// ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Node.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns b reshaped so that it broadcasts to a. Before opset 7, the attribute
/// `axis` stated the axis of a at which the axes of b begin.
static Value alignToAxis(Node &node, Value a, Value b) {
  if (!node.getBool("broadcast") || !node.hasAttribute("axis"))
    return b;
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(a));
  if (!axis)
    return {};
  int64_t behind = getRank(a) - *axis - getRank(b);
  if (behind < 0)
    return node.broken("has an operand that sticks out of the other at axis " +
                       Twine(*axis));
  SmallVector<int64_t> shape(getShape(b));
  shape.append(behind, 1);
  return node.reshape(b, shape);
}

/// Converts an operator that a line of Ops.inc maps to the nn op `op`.
Value convertElementwise(Node &node, StringRef op,
                         std::initializer_list<StringLiteral> attributes) {
  SmallVector<Value> operands(node.getOperands());
  if (operands.size() == 2)
    operands[1] = alignToAxis(node, operands[0], operands[1]);
  SmallVector<NamedAttribute> list;
  for (StringLiteral name : attributes)
    list.push_back(node.getBuilder().getNamedAttr(
        name, node.getBuilder().getF64FloatAttr(node.getFloat(name))));
  return node.createElementwise(op, operands, list);
}

//===----------------------------------------------------------------------===//
// Any number of operands
//===----------------------------------------------------------------------===//

static Value fold(Node &node, StringRef op) {
  Value result = node.getOperand(0);
  for (Value operand : node.getOperands().drop_front())
    result = node.createElementwise(op, {result, operand});
  return result;
}

Value convertMax(Node &node) { return fold(node, "max"); }
Value convertMin(Node &node) { return fold(node, "min"); }
Value convertSum(Node &node) { return fold(node, "add"); }
Value convertMean(Node &node) {
  Value sum = fold(node, "add");
  if (!sum || node.getNumOperands() == 1)
    return sum;
  double count = static_cast<double>(node.getNumOperands());
  return node.createElementwise("div",
                                {sum, node.splat(count, getElement(sum))});
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Returns a bound of Clip from its attribute, or null if there is none. Up to
/// opset 10, bounds were attributes, and the largest float meant that there is
/// none.
static Value getOldBound(Node &node, StringRef name) {
  constexpr double none = std::numeric_limits<float>::max();
  double bound = node.getFloat(name, none);
  if (std::abs(bound) >= none)
    return {};
  return node.splat(bound, getElement(node.getOperand(0)));
}

Value convertClip(Node &node) {
  Value x = node.getOperand(0);
  bool isOld = node.getVersion() < 11;
  Value low = isOld ? getOldBound(node, "min") : node.getOperand(1);
  Value high = isOld ? getOldBound(node, "max") : node.getOperand(2);
  for (Value bound : {low, high})
    if (bound && getNumElements(bound) != 1)
      return node.broken("needs bounds that are scalars");
  auto min = low ? readElements(low) : std::nullopt;
  auto max = high ? readElements(high) : std::nullopt;
  if (min && max && min->isReal()) {
    Builder &builder = node.getBuilder();
    return node.createElementwise(
        "clip", x,
        {builder.getNamedAttr("min", builder.getF64FloatAttr(min->reals[0])),
         builder.getNamedAttr("max", builder.getF64FloatAttr(max->reals[0]))});
  }
  if (!high && min && min->isReal() && min->reals[0] == 0)
    return node.createElementwise("relu", x);
  // Integer bounds need not fit the real ones of nn.clip.
  if (low)
    x = node.createElementwise("max", {x, node.reshape(low, {})});
  if (high)
    x = node.createElementwise("min", {x, node.reshape(high, {})});
  return x;
}

Value convertGelu(Node &node) {
  StringRef approximation = node.getString("approximate");
  if (approximation != "none" && approximation != "tanh")
    return node.broken("has approximation '" + approximation +
                       "'; ONNX knows 'none' and 'tanh'");
  return node.createElementwise(approximation == "tanh" ? "gelu_tanh" : "gelu",
                                node.getOperand(0));
}

Value convertPRelu(Node &node) {
  Value x = node.getOperand(0), slope = node.getOperand(1);
  // Before opset 7 a vector of slopes was one for each channel.
  if (node.getVersion() < 7 && getRank(slope) == 1 &&
      getNumElements(slope) != 1 && getRank(x) > 2) {
    SmallVector<int64_t> shape(getRank(x) - 1, 1);
    shape[0] = getNumElements(slope);
    slope = node.reshape(slope, shape);
  }
  Value y = node.createElementwise("prelu", {x, slope});
  if (y && getShape(y) != getShape(x))
    return node.broken("has slopes of more elements than its input");
  return y;
}

/// Converts Shrink. The bounds and the bias are floats whatever the type:
/// integers become f64, and the result is truncated towards zero and wraps
/// around. ONNX's own function body negates the bound in the type of the input,
/// which unsigned integers lack.
Value convertShrink(Node &node) {
  Value x = node.getOperand(0);
  Type type = getElement(x);
  Builder &builder = node.getBuilder();
  bool isReal = isa_and_nonnull<FloatType>(type);
  Type real = isReal ? type : builder.getF64Type();
  Value wide = node.castTo(x, real);
  Value bound = node.splat(node.getFloat("lambd"), real);
  Value bias = node.splat(node.getFloat("bias"), real);
  Value isBelow = node.createElementwise(
      "less", {wide, node.createElementwise("neg", bound)});
  Value isAbove = node.createElementwise("greater", {wide, bound});
  Value below = node.createElementwise("add", {wide, bias});
  Value above = node.createElementwise("sub", {wide, bias});
  Value inner =
      node.createElementwise("select", {isAbove, above, node.splat(0, real)});
  Value y = node.createElementwise("select", {isBelow, below, inner});
  if (!isReal && type.getIntOrFloatBitWidth() < 64)
    y = node.castTo(y, builder.getI64Type());
  return node.castTo(y, type);
}

Value convertSwish(Node &node) {
  Value x = node.getOperand(0);
  double alpha = node.getFloat("alpha");
  if (alpha == 1)
    return node.createElementwise("silu", x);
  Value scaled =
      node.createElementwise("mul", {x, node.splat(alpha, getElement(x))});
  return node.createElementwise("mul",
                                {x, node.createElementwise("sigmoid", scaled)});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value convertIsInf(Node &node) {
  Value x = node.getOperand(0);
  bool negative = node.getBool("detect_negative");
  bool positive = node.getBool("detect_positive");
  Value isInf = node.createElementwise("is_inf", x);
  if (negative && positive)
    return isInf;
  if (!negative && !positive)
    return node.splat(0, node.getBuilder().getI1Type(), getShape(x));
  Value sign = node.createElementwise(positive ? "greater" : "less",
                                      {x, node.splat(0, getElement(x))});
  return node.createElementwise("logical_and", {isInf, sign});
}

Value convertMod(Node &node) {
  bool isC = node.getBool("fmod");
  // Opset 28 defines it on floats too.
  if (!isC && node.getVersion() < 28 &&
      isa_and_nonnull<FloatType>(getElement(node.getOperand(0))))
    return node.broken("needs fmod=1 on floating point operands");
  return node.createElementwise(isC ? "fmod" : "mod", node.getOperands());
}

/// Converts Pow. The result has the type of the base, from which the exponent's
/// may differ.
Value convertPow(Node &node) {
  Value base = node.getOperand(0);
  Value exponent = alignToAxis(node, base, node.getOperand(1));
  Type type = getElement(base), other = getElement(exponent);
  if (isa_and_nonnull<FloatType>(other) && !isa<FloatType>(type)) {
    Type wide = node.getBuilder().getF64Type();
    Value power = node.createElementwise(
        "pow", {node.castTo(base, wide), node.castTo(exponent, wide)});
    return node.castTo(power, type);
  }
  return node.createElementwise("pow", {base, node.castTo(exponent, type)});
}

/// Converts BitShift: products with powers of two, or quotients by them. The
/// table of powers ends with 0, for which products and quotients are 0; it is
/// used for negative counts and for shifts by at least the number of bits.
Value convertBitShift(Node &node) {
  Value x = node.getOperand(0), count = node.getOperand(1);
  StringRef direction = node.getString("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.broken("has the direction '" + direction + "'");
  Type type = getElement(x);
  if (!type)
    return {};
  unsigned bits = type.getIntOrFloatBitWidth();
  SmallVector<int64_t> powers;
  for (unsigned i = 0; i < bits; ++i)
    powers.push_back(static_cast<int64_t>(uint64_t(1) << i));
  powers.push_back(0);
  bool isSigned = !type.isUnsignedInteger();
  Value zero = node.splat(0, type), all = node.splat(bits, type);
  count = node.createElementwise("min", {count, all});
  if (isSigned)
    count = node.createElementwise(
        "select", {node.createElementwise("less", {count, zero}), all, count});
  Value power = node.create<nn::GatherOp>(
      node.castTo(node.constant(powers), type),
      node.castTo(count, node.getBuilder().getI64Type()), 0);
  if (direction == "LEFT" || !isSigned)
    return node.createElementwise(direction == "LEFT" ? "mul" : "div",
                                  {x, power});
  // The complement of a negative number is shifted, and the result
  // complemented.
  Value isNegative = node.createElementwise("less", {x, zero});
  auto flip = [&](Value v) {
    return node.createElementwise(
        "select", {isNegative, node.createElementwise("bit_not", v), v});
  };
  return flip(node.createElementwise("div", {flip(x), power}));
}

} // namespace nnc::onnx
