//===- Gradients.cpp - Derivatives and losses -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Graphs that compute gradients, as energy-based models and saliency maps do,
// and graphs from which the losses of training were not removed.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

static Value multiplyBy(Layer &layer, Value a, Value b) {
  return layer.elementwise("mul", {a, b});
}

/// Returns 1 - x.
static Value complementOf(Layer &layer, Value x) {
  return x ? layer.elementwise("sub", {layer.splat(1.0, getElement(x)), x})
           : Value();
}

/// Converts SigmoidGrad: dy y (1 - y).
Value convertSigmoidGrad(Layer &layer) {
  Value y = layer.getInput(0), dy = layer.getInput(1);
  return multiplyBy(layer, dy, multiplyBy(layer, y, complementOf(layer, y)));
}

/// Converts TanhGrad: dy (1 - y^2).
Value convertTanhGrad(Layer &layer) {
  Value y = layer.getInput(0), dy = layer.getInput(1);
  return multiplyBy(layer, dy, complementOf(layer, multiplyBy(layer, y, y)));
}

/// Converts RsqrtGrad and SqrtGrad: -dy y^3 / 2, and dy / (2 y).
Value convertRsqrtGrad(Layer &layer) {
  Value y = layer.getInput(0), dy = layer.getInput(1);
  if (!y || !dy)
    return {};
  Value cube = multiplyBy(layer, y, multiplyBy(layer, y, y));
  return multiplyBy(layer, multiplyBy(layer, dy, cube),
                    layer.splat(-0.5, getElement(y)));
}
Value convertSqrtGrad(Layer &layer) {
  Value y = layer.getInput(0), dy = layer.getInput(1);
  if (!y || !dy)
    return {};
  return layer.elementwise(
      "div", {multiplyBy(layer, dy, layer.splat(0.5, getElement(y))), y});
}

/// Converts SoftplusGrad: dy sigmoid(x).
Value convertSoftplusGrad(Layer &layer) {
  Value dy = layer.getInput(0), x = layer.getInput(1);
  return multiplyBy(layer, dy, layer.elementwise("sigmoid", {x}));
}

/// Returns `dy` where `x` is above 0 and, if given, below `top`; else `below`
/// times dy.
static Value passWhere(Layer &layer, double below,
                       std::optional<double> top = std::nullopt) {
  Value dy = layer.getInput(0), x = layer.getInput(1);
  if (!x || !dy)
    return {};
  auto number = [&](double value) { return layer.splat(value, getElement(x)); };
  Value passes = layer.elementwise("greater", {x, number(0)});
  if (top)
    passes = layer.elementwise(
        "logical_and", {passes, layer.elementwise("less", {x, number(*top)})});
  Value other = below == 0 ? number(0) : multiplyBy(layer, dy, number(below));
  return layer.elementwise("select", {passes, dy, other});
}

Value convertReluGrad(Layer &layer) { return passWhere(layer, 0); }
Value convertRelu6Grad(Layer &layer) { return passWhere(layer, 0, 6); }
Value convertLeakyReluGrad(Layer &layer) {
  return passWhere(layer, layer.getReal("alpha", 0.2));
}

/// Sets result 1 to softmax(features) - labels and returns the loss of each
/// row: the sum of -labels log_softmax(features).
static Value computeCrossEntropy(Layer &layer, Value features, Value labels) {
  if (!features || !labels)
    return {};
  int64_t last = getRank(features) - 1;
  Value logs = layer.create<nn::SoftmaxOp>(features, last, /*log=*/true);
  layer.setResult(
      1, layer.elementwise("sub", {layer.elementwise("exp", {logs}), labels}));
  Value sum = layer.create<nn::ReduceOp>(nn::ReduceKind::sum,
                                         multiplyBy(layer, labels, logs),
                                         ArrayRef<int64_t>{last},
                                         /*keepdims=*/false);
  return layer.elementwise("neg", {sum});
}

Value convertSoftmaxCrossEntropy(Layer &layer) {
  Value features = layer.getInput(0), labels = layer.getInput(1);
  if (!features || !labels)
    return {};
  if (getRank(features) != 2 || getShape(labels) != getShape(features))
    return layer.broken("has features of shape " +
                        toString(getShape(features)) + " and labels of shape " +
                        toString(getShape(labels)));
  return computeCrossEntropy(layer, features, labels);
}

/// Converts SparseSoftmaxCrossEntropyWithLogits, whose labels are the numbers
/// of classes.
Value convertSparseCrossEntropy(Layer &layer) {
  Value features = layer.getInput(0), labels = layer.getInput(1);
  if (!features || !labels)
    return {};
  if (getRank(features) != 2 || getRank(labels) != 1 ||
      getShape(labels)[0] != getShape(features)[0])
    return layer.broken("has features of shape " +
                        toString(getShape(features)) + " and labels of shape " +
                        toString(getShape(labels)));
  int64_t rows = getShape(features)[0], classes = getShape(features)[1];
  Value numbers = layer.vectorOf(iota(classes), getElement(labels));
  Value isIt =
      layer.elementwise("equal", {layer.reshape(labels, {rows, 1}), numbers});
  return computeCrossEntropy(layer, features,
                             layer.castTo(isIt, getElement(features)));
}

} // namespace nnc::tensorflow
