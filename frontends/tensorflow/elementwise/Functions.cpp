//===- Functions.cpp - Elementwise functions of several ops --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Atan2.h"
#include "frontends/tensorflow/graph/Layer.h"

#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

Value convertAtan2(Layer &layer) {
  return computeAtan2(layer, layer.getInput(0), layer.getInput(1));
}

/// Returns `y` where `x` is not 0, else 0.
static Value unlessZero(Layer &layer, Value x, Value y) {
  if (!x || !y)
    return {};
  Value zero = layer.splat(0.0, getElement(x));
  return layer.elementwise("select",
                           {layer.elementwise("equal", {x, zero}), zero, y});
}

/// Converts Xlogy: x log(y), which is 0 where x is.
Value convertXlogy(Layer &layer) {
  Value x = layer.getInput(0), y = layer.getInput(1);
  return unlessZero(
      layer, x, layer.elementwise("mul", {x, layer.elementwise("log", {y})}));
}

/// Converts Xlog1py: x log(1 + y), which is 0 where x is.
Value convertXlog1py(Layer &layer) {
  Value x = layer.getInput(0), y = layer.getInput(1);
  if (!x || !y)
    return {};
  Value sum = layer.elementwise("add", {y, layer.splat(1.0, getElement(y))});
  return unlessZero(
      layer, x, layer.elementwise("mul", {x, layer.elementwise("log", {sum})}));
}

/// Converts Xdivy: x / y, which is 0 where x is.
Value convertXdivy(Layer &layer) {
  Value x = layer.getInput(0), y = layer.getInput(1);
  return unlessZero(layer, x, layer.elementwise("div", {x, y}));
}

/// Converts LeftShift and RightShift by numbers that are known when compiling:
/// a product with, or a quotient rounded down by, a power of two.
static Value shift(Layer &layer, bool isLeft) {
  Value x = layer.getInput(0);
  auto counts = layer.readInts(layer.getInput(1), "numbers of bits");
  if (!x || !counts)
    return {};
  auto type = dyn_cast<IntegerType>(getElement(x));
  if (!type)
    return layer.broken("shifts " + getTypeName(getElement(x)));
  int64_t most = int64_t(type.getWidth()) - (type.isUnsigned() ? 1 : 2);
  Sizes powers;
  for (int64_t count : *counts) {
    if (count < 0 || count > most)
      return layer.unsupported("shifts by " + Twine(count) +
                               " bits; nnc handles 0 to " + Twine(most));
    powers.push_back(int64_t(1) << count);
  }
  Value factor =
      layer.reshape(layer.vectorOf(powers, type), getShape(layer.getInput(1)));
  if (isLeft)
    return layer.elementwise("mul", {x, factor});
  // nn.mod has the sign of the divisor, so that the quotient rounds down.
  Value rest = layer.elementwise("mod", {x, factor});
  return layer.elementwise("div",
                           {layer.elementwise("sub", {x, rest}), factor});
}

Value convertLeftShift(Layer &layer) { return shift(layer, true); }
Value convertRightShift(Layer &layer) { return shift(layer, false); }

/// Returns the polynomial with these coefficients, that of the highest power
/// first.
static Value evaluatePolynomial(Layer &layer, Value x,
                                ArrayRef<double> coefficients) {
  if (!x)
    return {};
  Value sum = layer.splat(coefficients[0], getElement(x));
  for (double coefficient : coefficients.drop_front())
    sum = layer.elementwise("add", {layer.elementwise("mul", {sum, x}),
                                    layer.splat(coefficient, getElement(x))});
  return sum;
}

/// Converts Erfinv by the two polynomials of M. Giles, "Approximating the
/// erfinv function", which have the accuracy of f32.
Value convertErfinv(Layer &layer) {
  Value y = layer.getInput(0);
  if (!y)
    return {};
  if (!getElement(y).isF32())
    return layer.unsupported("has numbers of type " +
                             getTypeName(getElement(y)) +
                             "; nnc handles float32");
  auto number = [&](double value) { return layer.splat(value, getElement(y)); };
  auto compute = [&](StringRef op, ArrayRef<Value> operands) {
    return layer.elementwise(op, operands);
  };
  Value rest = compute(
      "mul", {compute("sub", {number(1), y}), compute("add", {number(1), y})});
  Value w = compute("neg", {compute("log", {rest})});
  Value central = evaluatePolynomial(
      layer, compute("sub", {w, number(2.5)}),
      {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
       0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value tail = evaluatePolynomial(
      layer, compute("sub", {compute("sqrt", {w}), number(3)}),
      {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
       0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value isCentral = compute("less", {w, number(5)});
  Value x = compute("mul", {y, compute("select", {isCentral, central, tail})});
  Value isEnd = compute("equal", {compute("abs", {y}), number(1)});
  Value end =
      compute("mul", {y, number(std::numeric_limits<double>::infinity())});
  return compute("select", {isEnd, end, x});
}

} // namespace nnc::tensorflow
