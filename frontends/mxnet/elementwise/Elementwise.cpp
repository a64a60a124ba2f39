//===- Elementwise.cpp - Elementwise operators ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/elementwise/Elementwise.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Returns the result of an elementwise op as the operator's result. Booleans
/// become numbers of the type `element`, except in NumPy's operators.
static Value asResult(Layer &layer, Value y, Type element) {
  bool isNumpy = layer.getOp().starts_with("_np");
  return y && getElement(y).isInteger(1) && !isNumpy ? layer.castTo(y, element)
                                                     : y;
}

/// Returns the operand of a logical op: whether elements are not zero.
static Value asOperand(Layer &layer, Value x, StringRef op) {
  if (!x || !op.starts_with("logical_") || getElement(x).isInteger(1))
    return x;
  Value isZero = layer.createElementwise("equal", {x, layer.scalar(0, x)});
  return layer.createElementwise("logical_not", isZero);
}

Value convertUnary(Layer &layer, StringRef op) {
  Value x = layer.getInput(0);
  bool isReal = isa<FloatType>(getElement(x));
  // NumPy's operators of integers compute floats.
  static constexpr StringLiteral kOfIntegers[] = {
      "abs",  "ceil", "floor",   "neg",        "round",
      "sign", "relu", "bit_not", "logical_not"};
  if (!isReal && !llvm::is_contained(kOfIntegers, op))
    x = layer.castTo(x, layer.getF32());
  if (!isReal && (op == "ceil" || op == "floor" || op == "round"))
    return x;
  return asResult(layer, layer.createElementwise(op, asOperand(layer, x, op)),
                  getElement(x));
}

Value convertBinary(Layer &layer, StringRef op) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  Type type = getElement(a);
  // Operators of NumPy take operands of two types.
  if (type != getElement(b)) {
    type = isa<FloatType>(type) ? type : getElement(b);
    a = layer.castTo(a, type);
    b = layer.castTo(b, type);
  }
  Value y = layer.createElementwise(
      op, {asOperand(layer, a, op), asOperand(layer, b, op)});
  return asResult(layer, y, type);
}

Value convertScalar(Layer &layer, StringRef op, bool isReversed) {
  Value x = layer.getInput(0);
  double scalar = layer.getReal("scalar", 1);
  Type type = getElement(x);
  if (type.isInteger(1) ||
      (!isa<FloatType>(type) &&
       (scalar != std::floor(scalar) || op == "div" || op == "pow")))
    x = layer.castTo(x, layer.getF32());
  Value number = layer.scalar(scalar, x);
  Value a = asOperand(layer, isReversed ? number : x, op),
        b = asOperand(layer, isReversed ? x : number, op);
  return asResult(layer, layer.createElementwise(op, {a, b}), getElement(x));
}

//===----------------------------------------------------------------------===//
// More than one op
//===----------------------------------------------------------------------===//

Value convertIdentity(Layer &layer) { return layer.getInput(0); }

/// Converts add_n: the sum of all inputs.
Value convertAddN(Layer &layer) {
  Value sum = layer.getInput(0);
  for (Value input : layer.getInputs().drop_front())
    sum = layer.add(sum, input);
  return sum;
}

Value convertSquare(Layer &layer) {
  return layer.mul(layer.getInput(0), layer.getInput(0));
}

/// Returns the real cube root of x, which may be negative.
static Value takeCubeRoot(Layer &layer) {
  Value x = layer.getInput(0);
  Value root = layer.createElementwise(
      "pow", {layer.createElementwise("abs", x), layer.scalar(1.0 / 3, x)});
  return layer.mul(layer.createElementwise("sign", x), root);
}

Value convertCubeRoot(Layer &layer) { return takeCubeRoot(layer); }

Value convertReciprocalCubeRoot(Layer &layer) {
  return layer.createElementwise("reciprocal", takeCubeRoot(layer));
}

Value convertExpm1(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.createElementwise(
      "sub", {layer.createElementwise("exp", x), layer.scalar(1, x)});
}

Value convertLog1p(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.createElementwise("log", layer.add(x, layer.scalar(1, x)));
}

/// Converts logarithms of another base: ln(x) times a factor.
static Value takeLogarithm(Layer &layer, double factor) {
  Value x = layer.getInput(0);
  return layer.mul(layer.createElementwise("log", x), layer.scalar(factor, x));
}

Value convertLog2(Layer &layer) {
  return takeLogarithm(layer, 1.4426950408889634);
}
Value convertLog10(Layer &layer) {
  return takeLogarithm(layer, 0.43429448190325182);
}

Value convertDegrees(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.mul(x, layer.scalar(57.295779513082321, x));
}
Value convertRadians(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.mul(x, layer.scalar(0.017453292519943295, x));
}

/// Converts round, whose halves are rounded away from zero.
Value convertRound(Layer &layer) {
  Value x = layer.getInput(0);
  if (!isa<FloatType>(getElement(x)))
    return x;
  Value size = layer.createElementwise("abs", x);
  // The sum is not rounded up to the next integer for the largest number below
  // 1/2, because the fraction is compared with 1/2 instead.
  Value whole = layer.createElementwise("floor", size);
  Value fraction = layer.createElementwise("sub", {size, whole});
  Value isUp = layer.createElementwise("greater_equal",
                                       {fraction, layer.scalar(0.5, x)});
  Value up = layer.castTo(isUp, getElement(x));
  return layer.mul(layer.createElementwise("sign", x), layer.add(whole, up));
}

/// Converts NumPy's around, whose halves are rounded to even.
Value convertAround(Layer &layer) {
  int64_t decimals = layer.getInt("decimals", 0);
  Value x = layer.getInput(0);
  if (decimals == 0 || (decimals > 0 && !isa<FloatType>(getElement(x))))
    return convertUnary(layer, "round");
  if (decimals < -30 || decimals > 30)
    return layer.broken("rounds to " + Twine(decimals) + " decimals");
  Type type = getElement(x);
  x = isa<FloatType>(type) ? x : layer.castTo(x, layer.getF32());
  Value scale = layer.scalar(std::pow(10.0, double(std::abs(decimals))), x);
  StringRef before = decimals > 0 ? "mul" : "div",
            behind = decimals > 0 ? "div" : "mul";
  Value y = layer.createElementwise(
      "round", layer.createElementwise(before, {x, scale}));
  return layer.castTo(layer.createElementwise(behind, {y, scale}), type);
}

/// Converts trunc and fix.
Value convertTrunc(Layer &layer) {
  Value x = layer.getInput(0);
  if (!isa<FloatType>(getElement(x)))
    return x;
  return layer.mul(
      layer.createElementwise("sign", x),
      layer.createElementwise("floor", layer.createElementwise("abs", x)));
}

/// Converts _hypot: the length of a vector.
Value convertHypot(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  return layer.createElementwise("sqrt",
                                 layer.add(layer.mul(a, a), layer.mul(b, b)));
}

static Value convertNotEqual(Layer &layer, Value b) {
  Value a = layer.getInput(0);
  Value differs = layer.createElementwise(
      "logical_not", layer.createElementwise("equal", {a, b}));
  return asResult(layer, differs, getElement(a));
}
Value convertNotEqual(Layer &layer) {
  return convertNotEqual(layer, layer.getInput(1));
}
Value convertNotEqualScalar(Layer &layer) {
  return convertNotEqual(
      layer, layer.scalar(layer.getReal("scalar", 1), layer.getInput(0)));
}

/// Converts smooth_l1: the square of (scalar * x) / 2 near 0, |x| - 1 / (2
/// scalar^2) elsewhere.
Value convertSmoothL1(Layer &layer) {
  Value x = layer.getInput(0);
  double square = std::pow(layer.getReal("scalar", 1), 2);
  if (square == 0)
    return layer.broken("has a scalar of 0");
  Value size = layer.createElementwise("abs", x);
  Value near = layer.mul(layer.mul(x, x), layer.scalar(square / 2, x));
  Value far =
      layer.createElementwise("sub", {size, layer.scalar(0.5 / square, x)});
  Value isNear =
      layer.createElementwise("less", {size, layer.scalar(1 / square, x)});
  return layer.createElementwise("select", {isNear, near, far});
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static Value createWith(Layer &layer, StringRef op, Value x,
                        ArrayRef<std::pair<StringRef, double>> numbers) {
  SmallVector<NamedAttribute> list;
  Builder &builder = layer.getBuilder();
  for (auto [name, number] : numbers)
    list.push_back(builder.getNamedAttr(name, builder.getF64FloatAttr(number)));
  return layer.createElementwise(op, x, list);
}

Value convertActivation(Layer &layer) {
  StringRef kind = layer.getText("act_type");
  Value x = layer.getInput(0);
  static constexpr std::pair<StringLiteral, StringLiteral> kOps[] = {
      {"relu", "relu"},         {"sigmoid", "sigmoid"},   {"tanh", "tanh"},
      {"softrelu", "softplus"}, {"softsign", "softsign"}, {"mish", "mish"}};
  for (auto [name, op] : kOps)
    if (name == kind)
      return layer.createElementwise(op, x);
  if (kind == "log_sigmoid")
    return layer.createElementwise(
        "neg",
        layer.createElementwise("softplus", layer.createElementwise("neg", x)));
  return layer.unsupported("has the activation '" + kind + "'");
}

Value convertLogSigmoid(Layer &layer) {
  return layer.createElementwise(
      "neg",
      layer.createElementwise(
          "softplus", layer.createElementwise("neg", layer.getInput(0))));
}

Value convertLeakyRelu(Layer &layer) {
  StringRef kind = layer.getText("act_type", "leaky");
  Value x = layer.getInput(0);
  double slope = layer.getReal("slope", 0.25);
  if (kind == "rrelu") // inference takes the mean of the two bounds
    slope = (layer.getReal("lower_bound", 0.125) +
             layer.getReal("upper_bound", 0.334)) /
            2;
  if (kind == "leaky" || kind == "rrelu")
    return createWith(layer, "leaky_relu", x, {{"alpha", slope}});
  if (kind == "elu")
    return createWith(layer, "elu", x, {{"alpha", slope}});
  if (kind == "selu")
    return createWith(layer, "selu", x,
                      {{"alpha", 1.6732632423543772848170429916717},
                       {"gamma", 1.0507009873554804934193349852946}});
  if (kind == "gelu")
    return layer.createElementwise("gelu", x);
  if (kind != "prelu")
    return layer.unsupported("has the activation '" + kind + "'");
  Value gamma = layer.getInput(1);
  if (!gamma)
    return layer.broken("lacks its slopes");
  // A vector of slopes is one for each channel.
  if (getRank(gamma) == 1 && getRank(x) > 1) {
    SmallVector<int64_t> shape(getRank(x) - 1, 1);
    shape[0] = getShape(gamma)[0];
    gamma = layer.reshape(gamma, shape);
  }
  Value y = layer.createElementwise("prelu", {x, gamma});
  if (y && getShape(y) != getShape(x))
    return layer.broken("has slopes of shape " +
                        toString(getShape(layer.getInput(1))) +
                        " for an input of shape " + toString(getShape(x)));
  return y;
}

Value convertHardSigmoid(Layer &layer) {
  return createWith(layer, "hard_sigmoid", layer.getInput(0),
                    {{"alpha", layer.getReal("alpha", 0.2)},
                     {"beta", layer.getReal("beta", 0.5)}});
}

Value convertClip(Layer &layer) {
  Value x = layer.getInput(0);
  double low = layer.getReal("a_min", -std::numeric_limits<double>::infinity()),
         high = layer.getReal("a_max", std::numeric_limits<double>::infinity());
  if (isa<FloatType>(getElement(x)))
    return createWith(layer, "clip", x, {{"min", low}, {"max", high}});
  if (std::isfinite(low))
    x = layer.createElementwise("max", {x, layer.scalar(low, x)});
  if (std::isfinite(high))
    x = layer.createElementwise("min", {x, layer.scalar(high, x)});
  return x;
}

//===----------------------------------------------------------------------===//
// Types and selections
//===----------------------------------------------------------------------===//

Value convertCast(Layer &layer) {
  Type type = layer.getDtype("dtype", layer.getF32());
  return type ? layer.castTo(layer.getInput(0), type) : Value();
}

/// Converts where. A vector as the condition selects slices of the first axis.
Value convertWhere(Layer &layer) {
  Value condition = layer.getInput(0), a = layer.getInput(1),
        b = layer.getInput(2);
  if (!getElement(condition).isInteger(1))
    condition = layer.createElementwise(
        "logical_not", layer.createElementwise(
                           "equal", {condition, layer.scalar(0, condition)}));
  bool isVector = getRank(condition) == 1 && getRank(a) > 1 &&
                  !layer.getOp().starts_with("_np");
  if (isVector) {
    SmallVector<int64_t> shape(getRank(a), 1);
    shape[0] = getNumElements(condition);
    condition = layer.reshape(condition, shape);
  }
  return layer.createElementwise("select", {condition, a, b});
}

} // namespace nnc::mxnet
