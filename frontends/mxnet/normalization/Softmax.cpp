//===- Softmax.cpp - Softmax and the outputs of training ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/moves/Positions.h"

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

/// Returns a mask of the elements along `axis` that are in front of the lengths
/// in the second input, which has the shape of x without that axis.
static Value findElements(Layer &layer, Value x, int64_t axis) {
  Value lengths = layer.getInput(1);
  SmallVector<int64_t> shape(getShape(x));
  shape[axis] = 1;
  if (!lengths || getNumElements(lengths) != product(shape))
    return layer.broken("has lengths that do not fit an input of shape " +
                        toString(getShape(x)));
  lengths = layer.reshape(layer.castTo(lengths, layer.getI64()), shape);
  Value steps = makeSteps(layer, getShape(x)[axis], 1, axis, getRank(x));
  return layer.createElementwise("less", {steps, lengths});
}

static Value softmaxAlongAxis(Layer &layer, Value x, bool isLog) {
  auto axis = layer.getAxis("axis", -1, getRank(x));
  if (!axis)
    return {};
  double temperature = layer.getReal("temperature", 1);
  if (temperature != 1)
    x = layer.createElementwise("div", {x, layer.scalar(temperature, x)});
  if (!layer.getBool("use_length", false))
    return softmax(layer, x, *axis, isLog);
  Value isIn = findElements(layer, x, *axis);
  x = layer.createElementwise("select", {isIn, x, layer.scalar(-1e30, x)});
  Value y = softmax(layer, x, *axis, isLog);
  return y ? layer.createElementwise("select", {isIn, y, layer.scalar(0, y)})
           : y;
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

/// Converts SoftmaxActivation. The mode "instance" means the last axis: MXNet
/// collapses the others to one.
Value convertSoftmaxActivation(Layer &layer) {
  StringRef mode = layer.getText("mode", "instance");
  if (mode != "instance" && mode != "channel")
    return layer.broken("has the mode '" + mode + "'");
  Value x = layer.getInput(0);
  if (getRank(x) < 1)
    return layer.broken("needs an input with axes");
  bool isOfChannels = mode == "channel" && getRank(x) > 1;
  return softmax(layer, x, isOfChannels ? 1 : getRank(x) - 1);
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
