//===- Statistics.cpp - Means and variances of a tensor -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Statistics.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

Statistics::Statistics(LayerBuilder &layer, Value x, ArrayRef<int64_t> axes) {
  mean = layer.create<nn::ReduceOp>(nn::ReduceKind::mean, x, axes, true);
  centered = layer.createElementwise("sub", {x, mean});
  Value square = layer.createElementwise("mul", {centered, centered});
  variance =
      layer.create<nn::ReduceOp>(nn::ReduceKind::mean, square, axes, true);
}

Value Statistics::getInverse(LayerBuilder &layer, double epsilon) const {
  Value added = layer.splat(epsilon, getElement(variance));
  Value deviation = layer.createElementwise(
      "sqrt", layer.createElementwise("add", {variance, added}));
  return layer.createElementwise("reciprocal", deviation);
}

Value Statistics::normalize(LayerBuilder &layer, double epsilon, Value scale,
                            Value bias) const {
  scale = layer.createElementwise("mul", {getInverse(layer, epsilon), scale});
  return layer.createElementwise(
      "add", {layer.createElementwise("mul", {centered, scale}), bias});
}
