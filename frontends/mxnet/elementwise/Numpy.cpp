//===- Numpy.cpp - More elementwise operators of NumPy --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/elementwise/Elementwise.h"

#include "frontends/common/Atan2.h"

#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns x, or floats of it where it holds integers.
static Value asReals(Layer &layer, Value x) {
  return isa<FloatType>(getElement(x)) ? x : layer.castTo(x, layer.getF32());
}

static Value choose(Layer &layer, Value condition, Value a, Value b) {
  return layer.createElementwise("select", {condition, a, b});
}

Value convertIsFinite(Layer &layer) {
  Value x = asReals(layer, layer.getInput(0));
  return layer.createElementwise(
      "less", {layer.createElementwise("abs", x), layer.scalar(kInfinity, x)});
}

static Value isEqual(Layer &layer, double value) {
  Value x = asReals(layer, layer.getInput(0));
  return layer.createElementwise("equal", {x, layer.scalar(value, x)});
}
Value convertIsPosInf(Layer &layer) { return isEqual(layer, kInfinity); }
Value convertIsNegInf(Layer &layer) { return isEqual(layer, -kInfinity); }

/// Returns both operands as tensors of one type of floats.
static std::pair<Value, Value> readReals(Layer &layer) {
  Value a = asReals(layer, layer.getInput(0)),
        b = layer.castTo(layer.getInput(1), getElement(a));
  return {a, b};
}

/// Returns the input of floats and the attribute `scalar`.
static std::pair<Value, Value> readScalar(Layer &layer) {
  Value a = asReals(layer, layer.getInput(0));
  return {a, layer.scalar(layer.getReal("scalar", 1), a)};
}

Value convertArcTan2(Layer &layer) {
  auto [y, x] = readReals(layer);
  return computeAtan2(layer, y, x);
}
Value convertArcTan2Scalar(Layer &layer) {
  auto [y, x] = readScalar(layer);
  return computeAtan2(layer, y, x);
}
Value convertArcTan2Reversed(Layer &layer) {
  auto [x, y] = readScalar(layer);
  return computeAtan2(layer, y, x);
}

/// Converts copysign: the magnitude of a with the sign of b.
Value convertCopySign(Layer &layer) {
  auto [a, b] = readReals(layer);
  Value size = layer.createElementwise("abs", a);
  Value isNegative = layer.createElementwise("less", {b, layer.scalar(0, b)});
  return choose(layer, isNegative, layer.createElementwise("neg", size), size);
}

/// Returns a times 2 to the power of b.
static Value scaleByPower(Layer &layer, Value a, Value b) {
  return layer.mul(a, layer.createElementwise("pow", {layer.scalar(2, a), b}));
}
Value convertLdexp(Layer &layer) {
  auto [a, b] = readReals(layer);
  return scaleByPower(layer, a, b);
}
Value convertLdexpScalar(Layer &layer) {
  auto [a, b] = readScalar(layer);
  return scaleByPower(layer, a, b);
}
Value convertLdexpReversed(Layer &layer) {
  auto [b, a] = readScalar(layer);
  return scaleByPower(layer, a, b);
}

/// Converts hypot of a tensor and a number: the length of a vector.
Value convertHypotScalar(Layer &layer) {
  auto [a, b] = readScalar(layer);
  return layer.createElementwise("sqrt",
                                 layer.add(layer.mul(a, a), layer.mul(b, b)));
}

Value convertNanToNum(Layer &layer) {
  Value x = layer.getInput(0);
  if (!isa<FloatType>(getElement(x)))
    return x;
  double largest = getElement(x).isF64() ? std::numeric_limits<double>::max()
                                         : std::numeric_limits<float>::max();
  auto replace = [&](Value is, StringRef name, double otherwise) {
    x = choose(layer, is, layer.scalar(layer.getReal(name, otherwise), x), x);
  };
  replace(layer.createElementwise("is_nan", x), "nan", 0);
  auto equals = [&](double value) {
    return layer.createElementwise("equal", {x, layer.scalar(value, x)});
  };
  replace(equals(kInfinity), "posinf", largest);
  replace(equals(-kInfinity), "neginf", -largest);
  return x;
}

/// Converts where of a condition, a tensor and a number.
static Value chooseScalar(Layer &layer, bool isReversed) {
  Value x = layer.getInput(1),
        number = layer.scalar(layer.getReal("scalar", 0), x),
        condition =
            layer.castTo(layer.getInput(0), layer.getBuilder().getI1Type());
  return isReversed ? choose(layer, condition, number, x)
                    : choose(layer, condition, x, number);
}
Value convertWhereRightScalar(Layer &layer) {
  return chooseScalar(layer, false);
}
Value convertWhereLeftScalar(Layer &layer) { return chooseScalar(layer, true); }

/// Converts amp_multicast, which brings floats to one type: halves are computed
/// as float32 anyway.
Value convertMulticast(Layer &layer) {
  Type type = layer.getF32();
  for (Value input : layer.getInputs())
    if (getElement(input).isF64())
      type = getElement(input);
  for (auto [i, input] : llvm::enumerate(layer.getInputs()))
    layer.setResult(i, layer.castTo(input, type));
  return layer.castTo(layer.getInput(0), type);
}

} // namespace nnc::mxnet
