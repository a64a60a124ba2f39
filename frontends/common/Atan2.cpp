//===- Atan2.cpp - The angle of a point -----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Atan2.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

Value nnc::frontends::computeAtan2(LayerBuilder &layer, Value y, Value x) {
  if (!x || !y)
    return {};
  Type type = getElement(x);
  auto number = [&](double value) { return layer.splat(value, type); };
  auto select = [&](Value condition, Value a, Value b) {
    return layer.createElementwise("select", {condition, a, b});
  };
  Value isBelow = layer.createElementwise("less", {y, number(0)}),
        isLeft = layer.createElementwise("less", {x, number(0)}),
        isOnAxis = layer.createElementwise("equal", {x, number(0)}),
        isZero = layer.createElementwise("equal", {y, number(0)});
  Value angle =
      layer.createElementwise("atan", {layer.createElementwise("div", {y, x})});
  Value turned = layer.createElementwise(
      "add", {angle, select(isBelow, number(-M_PI), number(M_PI))});
  Value upright = select(isZero, number(0),
                         select(isBelow, number(-M_PI_2), number(M_PI_2)));
  return select(isOnAxis, upright, select(isLeft, turned, angle));
}
