//===- Elementwise.cpp - Elementwise operators ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Operators that are one nn op are lines of Ops.inc; here are the others.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"
#include "frontends/tensorflow/signal/Complex.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns the number `value` in the element type of `x`, which broadcasts.
static Value number(Layer &layer, double value, Value x) {
  return x ? layer.splat(value, getElement(x)) : Value();
}

Value convertAddN(Layer &layer) {
  Value sum = layer.getInput(0);
  for (size_t i = 1; i < layer.getNumInputs(); ++i)
    sum = layer.elementwise("add", {sum, layer.getInput(i)});
  return sum;
}

Value convertCast(Layer &layer) {
  if (convertsComplex(layer))
    return convertComplexCast(layer);
  Type to = layer.getType("DstT");
  Value x = layer.getInput(0);
  if (!to || !x)
    return {};
  // Floats of 16 bits are computed as float32, which only casts round.
  Type half = layer.getHalf("DstT");
  auto cast = [&](Value value) {
    return layer.castTo(half ? layer.castTo(value, half) : value, to);
  };
  if (Value image = Layer::getChannelsFirst(x))
    return layer.toChannelsLast(cast(image));
  return cast(x);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value convertFloorDiv(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  if (!a || !b)
    return {};
  if (isa<FloatType>(getElement(a)))
    return layer.elementwise("floor", {layer.elementwise("div", {a, b})});
  // nn.mod has the sign of the divisor, so that the difference is a multiple.
  Value rest = layer.elementwise("mod", {a, b});
  return layer.elementwise("div", {layer.elementwise("sub", {a, rest}), b});
}

/// Converts DivNoNan: a quotient that is 0 where the divisor is.
Value convertDivNoNan(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  Value isZero = layer.elementwise("equal", {b, number(layer, 0, b)});
  return layer.elementwise("select", {isZero, number(layer, 0, b),
                                      layer.elementwise("div", {a, b})});
}

/// Converts MulNoNan: a product that is 0 where the second factor is.
Value convertMulNoNan(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  Value isZero = layer.elementwise("equal", {b, number(layer, 0, b)});
  return layer.elementwise("select", {isZero, number(layer, 0, b),
                                      layer.elementwise("mul", {a, b})});
}

Value convertSquare(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.elementwise("mul", {x, x});
}

Value convertSquaredDifference(Layer &layer) {
  Value x = layer.elementwise("sub", layer.getTensors(0, 2));
  return layer.elementwise("mul", {x, x});
}

Value convertErfc(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.elementwise(
      "sub", {number(layer, 1, x), layer.elementwise("erf", {x})});
}

Value convertExpm1(Layer &layer) {
  Value x = layer.getInput(0);
  // The ELU is exact near 0, but only up to 0.
  Value below = layer.elementwise("elu", {x}, {layer.real("alpha", 1)});
  Value above = layer.elementwise(
      "sub", {layer.elementwise("exp", {x}), number(layer, 1, x)});
  Value isBelow = layer.elementwise("less", {x, number(layer, 0, x)});
  return layer.elementwise("select", {isBelow, below, above});
}

Value convertLog1p(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.elementwise(
      "log", {layer.elementwise("add", {x, number(layer, 1, x)})});
}

Value convertClip(Layer &layer) {
  SmallVector<Value> given = layer.getTensors(0, 3);
  if (given.empty())
    return {};
  auto low = readElements(given[1]), high = readElements(given[2]);
  if (isa<FloatType>(getElement(given[0])) && low && high &&
      low->reals.size() == 1 && high->reals.size() == 1)
    return layer.elementwise(
        "clip", {given[0]},
        {layer.real("min", low->reals[0]), layer.real("max", high->reals[0])});
  return layer.elementwise(
      "max", {layer.elementwise("min", {given[0], given[2]}), given[1]});
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value convertElu(Layer &layer) {
  return layer.elementwise("elu", {layer.getInput(0)},
                           {layer.real("alpha", 1)});
}

Value convertLeakyRelu(Layer &layer) {
  return layer.elementwise("leaky_relu", {layer.getInput(0)},
                           {layer.real("alpha", layer.getReal("alpha", 0.2))});
}

Value convertRelu6(Layer &layer) {
  return layer.elementwise("clip", {layer.getInput(0)},
                           {layer.real("min", 0), layer.real("max", 6)});
}

Value convertSelu(Layer &layer) {
  return layer.elementwise("selu", {layer.getInput(0)},
                           {layer.real("alpha", 1.6732632423543772),
                            layer.real("gamma", 1.0507009873554805)});
}

//===----------------------------------------------------------------------===//
// Truth values
//===----------------------------------------------------------------------===//

Value convertNotEqual(Layer &layer) {
  return layer.elementwise(
      "logical_not", {layer.elementwise("equal", layer.getTensors(0, 2))});
}

Value convertIsFinite(Layer &layer) {
  Value x = layer.getInput(0);
  return layer.elementwise(
      "logical_not",
      {layer.elementwise("logical_or", {layer.elementwise("is_nan", {x}),
                                        layer.elementwise("is_inf", {x})})});
}

Value convertSelectV2(Layer &layer) {
  return layer.elementwise("select", layer.getTensors(0, 3));
}

/// Converts Select, whose condition may be a vector with an element for each
/// slice of the first axis.
Value convertSelect(Layer &layer) {
  SmallVector<Value> given = layer.getTensors(0, 3);
  if (given.empty())
    return {};
  if (getRank(given[0]) == 1 && getRank(given[1]) > 1) {
    Sizes shape(getRank(given[1]), 1);
    shape[0] = getShape(given[0])[0];
    given[0] = layer.reshape(given[0], shape);
  }
  return layer.elementwise("select", given);
}

} // namespace nnc::tensorflow
