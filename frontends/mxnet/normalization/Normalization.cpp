//===- Normalization.cpp - Normalizations ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/normalization/Normalization.h"
#include "frontends/common/Statistics.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

Value normalizeBatch(Layer &layer, Value x, bool hasFixedScale) {
  Value beta = layer.getInput(2);
  auto getStatistic = [&](size_t i, StringRef suffix) {
    Value statistic = layer.getNumInputs() > i ? layer.getInput(i)
                                               : layer.getOwnParameter(suffix);
    if (!statistic)
      layer.broken("lacks its moving statistics: '" + layer.getNode().name +
                   "_" + suffix + "' is no parameter");
    return layer.castTo(statistic, getElement(x));
  };
  if (getRank(x) < 1)
    return layer.broken("needs an input with axes");
  auto axis = layer.getAxis("axis", getRank(x) > 1 ? 1 : 0, getRank(x));
  if (!axis)
    return {};
  if (getRank(x) == 1)
    return layer.unsupported("has an input of one axis");
  Value mean = getStatistic(3, "moving_mean"),
        variance = getStatistic(4, "moving_var");
  if (!mean || !variance)
    return {};
  Value gamma = layer.castTo(layer.getInput(1), getElement(x));
  if (hasFixedScale)
    gamma = layer.splat(1, getElement(x), getShape(gamma));
  Value y = layer.create<nn::BatchNormOp>(
      layer.moveAxis(x, *axis, 1), gamma, layer.castTo(beta, getElement(x)),
      mean, variance, APFloat(layer.getReal("eps", 1e-3)));
  if (layer.getBool("output_mean_var", false)) {
    layer.setResult(1, mean);
    layer.setResult(2, variance);
  }
  return y ? layer.moveAxis(y, 1, *axis) : Value();
}

/// Converts BatchNorm. Inference always uses the moving statistics. With
/// fix_gamma, the default, the scale is 1 whatever the parameter holds.
Value convertBatchNorm(Layer &layer) {
  return normalizeBatch(layer, layer.getInput(0),
                        layer.getBool("fix_gamma", true));
}

/// Returns a vector of one element per channel, of which there are `channels`,
/// with `behind` axes of size 1 behind it.
static Value asChannels(Layer &layer, Value vector, int64_t channels,
                        int64_t behind, Value x) {
  if (getShape(vector) != ArrayRef<int64_t>(channels))
    return layer.broken("needs a scale and a bias of " + Twine(channels) +
                        " elements, not one of shape " +
                        toString(getShape(vector)));
  SmallVector<int64_t> shape(behind + 1, 1);
  shape[0] = channels;
  return layer.reshape(layer.castTo(vector, getElement(x)), shape);
}

Value convertInstanceNorm(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) < 3)
    return layer.broken("needs an input with spatial axes, not one of shape " +
                        toString(getShape(x)));
  SmallVector<int64_t> axes = iota(getRank(x));
  int64_t channels = getShape(x)[1], behind = getRank(x) - 2;
  return Statistics(layer, x, ArrayRef(axes).drop_front(2))
      .normalize(layer, layer.getReal("eps", 1e-3),
                 asChannels(layer, layer.getInput(1), channels, behind, x),
                 asChannels(layer, layer.getInput(2), channels, behind, x));
}

Value convertLayerNorm(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = layer.getAxis("axis", -1, getRank(x));
  if (!axis)
    return {};
  double epsilon = layer.getReal("eps", 1e-5);
  int64_t size = getShape(x)[*axis], last = getRank(x) - 1;
  Value scale = asChannels(layer, layer.getInput(1), size, 0, x),
        bias = asChannels(layer, layer.getInput(2), size, 0, x);
  Value y = layer.create<nn::LayerNormOp>(layer.moveAxis(x, *axis, last), scale,
                                          bias, last, APFloat(epsilon),
                                          /*accumulator=*/TypeAttr());
  if (layer.getBool("output_mean_var", false)) {
    Statistics s(layer, x, *axis);
    layer.setResult(1, s.mean);
    layer.setResult(
        2, layer.createElementwise(
               "sqrt", layer.add(s.variance, layer.scalar(epsilon, x))));
  }
  return y ? layer.moveAxis(y, last, *axis) : Value();
}

/// Converts GroupNorm. Its scale and bias have an element for each group in
/// MXNet 1.6, and one for each channel later.
Value convertGroupNorm(Layer &layer) {
  Value x = layer.getInput(0);
  SmallVector<int64_t> shape(getShape(x));
  int64_t groups = layer.getInt("num_groups", 1);
  if (shape.size() < 3 || groups < 1 || shape[1] % groups != 0)
    return layer.broken("has " + Twine(groups) +
                        " groups for an input of shape " + toString(shape));
  int64_t channels = shape[1], each = channels / groups;
  SmallVector<Value> parameters;
  for (size_t i : {1, 2}) {
    Value parameter = layer.castTo(layer.getInput(i), getElement(x));
    bool isOfGroups = getShape(parameter) == ArrayRef<int64_t>(groups);
    if (!isOfGroups && getShape(parameter) != ArrayRef<int64_t>(channels))
      return layer.broken("has a scale or bias of shape " +
                          toString(getShape(parameter)) + " for " +
                          Twine(channels) + " channels");
    parameters.push_back(
        layer.reshape(parameter, {groups, isOfGroups ? 1 : each, 1}));
  }
  x = layer.reshape(
      x, {shape[0], groups, each, product(ArrayRef(shape).drop_front(2))});
  Value y = Statistics(layer, x, {2, 3})
                .normalize(layer, layer.getReal("eps", 1e-5), parameters[0],
                           parameters[1]);
  return layer.reshape(y, shape);
}

/// Converts LRN: x / (knorm + alpha / nsize * sum of squares over `nsize`
/// channels) ^ beta. The sum over nsize is a mean that counts the padding.
Value convertLrn(Layer &layer) {
  Value x = layer.getInput(0);
  ArrayRef<int64_t> shape = getShape(x);
  int64_t size = layer.getInt("nsize", 0);
  if (shape.size() < 2 || size < 1 || size > INT32_MAX || size % 2 == 0)
    return layer.broken("has nsize " + Twine(size) + " for an input of shape " +
                        toString(shape) +
                        "; it needs an odd number of channels");
  Value square = layer.reshape(
      layer.mul(x, x), {shape[0], 1, shape[1], product(shape.drop_front(2))});
  SmallVector<int64_t> kernel = {size, 1}, ones = {1, 1},
                       pads = {size / 2, 0, size / 2, 0};
  Value mean =
      layer.create<nn::AvgPoolOp>(square, kernel, ones, ones, pads, false, true,
                                  /*accumulator=*/TypeAttr());
  mean = layer.reshape(mean, shape);
  Value sum =
      layer.add(layer.mul(mean, layer.scalar(layer.getReal("alpha", 1e-4), x)),
                layer.scalar(layer.getReal("knorm", 2), x));
  return layer.createElementwise(
      "div",
      {x, layer.createElementwise(
              "pow", {sum, layer.scalar(layer.getReal("beta", 0.75), x)})});
}

/// Converts L2Normalization: x / sqrt(sum of squares + eps).
Value convertL2Normalization(Layer &layer) {
  Value x = layer.getInput(0);
  StringRef mode = layer.getText("mode", "instance");
  SmallVector<int64_t> axes = iota(getRank(x));
  if (getRank(x) < (mode == "spatial" ? 3 : 2))
    return layer.broken("needs an input of more axes than " +
                        toString(getShape(x)));
  if (mode == "channel")
    axes = {1};
  else if (mode == "instance" || mode == "spatial")
    axes.erase(axes.begin(), axes.begin() + (mode == "instance" ? 1 : 2));
  else
    return layer.broken("has the mode '" + mode + "'");
  Value sum = layer.reduce(nn::ReduceKind::sum, layer.mul(x, x), axes, true);
  Value norm = layer.createElementwise(
      "sqrt", layer.add(sum, layer.scalar(layer.getReal("eps", 1e-10), x)));
  return layer.createElementwise("div", {x, norm});
}

} // namespace nnc::mxnet
