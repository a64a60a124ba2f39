//===- Softmax.cpp - Softmax and the outputs of training ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

static Value softmax(Layer &layer, Value x, int64_t axis, bool isLog = false) {
  return layer.create<nn::SoftmaxOp>(x, axis, isLog);
}

/// Returns the softmax over all axes but the first.
static Value softmaxOfSamples(Layer &layer, Value x) {
  SmallVector<int64_t> shape(getShape(x));
  if (shape.size() < 2)
    return layer.broken("needs an input of samples, not one of shape " +
                        toString(shape));
  x = layer.reshape(x, {shape[0], product(ArrayRef(shape).drop_front(1))});
  return layer.reshape(softmax(layer, x, 1), shape);
}

static Value softmaxAlongAxis(Layer &layer, Value x, bool isLog) {
  if (layer.getBool("use_length", false))
    return layer.unsupported("has use_length=True; export the network with a "
                             "mask instead");
  auto axis = layer.getAxis("axis", -1, getRank(x));
  if (!axis)
    return {};
  double temperature = layer.getReal("temperature", 1);
  if (temperature != 1)
    x = layer.createElementwise("div", {x, layer.scalar(temperature, x)});
  return softmax(layer, x, *axis, isLog);
}

Value convertSoftmax(Layer &layer) {
  return softmaxAlongAxis(layer, layer.getInput(0), false);
}
Value convertLogSoftmax(Layer &layer) {
  return softmaxAlongAxis(layer, layer.getInput(0), true);
}
Value convertSoftmin(Layer &layer) {
  return softmaxAlongAxis(
      layer, layer.createElementwise("neg", layer.getInput(0)), false);
}

Value convertSoftmaxActivation(Layer &layer) {
  StringRef mode = layer.getText("mode", "instance");
  if (mode != "instance" && mode != "channel")
    return layer.broken("has the mode '" + mode + "'");
  Value x = layer.getInput(0);
  return mode == "channel" && getRank(x) > 1 ? softmax(layer, x, 1)
                                             : softmaxOfSamples(layer, x);
}

/// Converts SoftmaxOutput, whose loss matters for training alone.
Value convertSoftmaxOutput(Layer &layer) {
  Value x = layer.getInput(0);
  if (layer.getBool("multi_output", false) && getRank(x) > 1)
    return softmax(layer, x, 1);
  if (layer.getBool("preserve_shape", false) && getRank(x) > 0)
    return softmax(layer, x, getRank(x) - 1);
  return softmaxOfSamples(layer, x);
}

Value convertLogisticOutput(Layer &layer) {
  return layer.createElementwise("sigmoid", layer.getInput(0));
}

} // namespace nnc::mxnet
