//===- Normalization.cpp - Normalizations --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Statistics.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns an argument with one element for each channel, or `otherwise` for
/// each if it is absent. Null after an error.
static Value getOfChannels(Node &node, StringRef name, int64_t channels,
                           Type element, double otherwise) {
  Value given = node.getOptionalTensor(name);
  if (!given)
    return node.has(name) ? Value()
                          : node.splat(otherwise, element, {channels});
  if (getShape(given) != ArrayRef<int64_t>(channels))
    return node.broken("needs a '" + name + "' of " + Twine(channels) +
                       " elements, not one of shape " +
                       toString(getShape(given)));
  return node.castTo(given, element);
}

/// Returns a value of one element for each channel, axis 1, in the form that
/// broadcasts with a tensor of `rank` axes.
static Value alignChannels(Node &node, Value value, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = getNumElements(value);
  return value ? node.reshape(value, shape) : Value();
}

/// Normalizes `x` by its own mean and variance over `axes`, and applies weight
/// and bias of channels.
static Value normalizeOver(Node &node, Value x, ArrayRef<int64_t> axes) {
  int64_t channels = getShape(x)[1];
  Type element = getElement(x);
  Value weight = getOfChannels(node, "weight", channels, element, 1),
        bias = getOfChannels(node, "bias", channels, element, 0);
  if (!weight || !bias)
    return {};
  return Statistics(node, x, axes)
      .normalize(node, node.getFloat("eps", 1e-5),
                 alignChannels(node, weight, getRank(x)),
                 alignChannels(node, bias, getRank(x)));
}

/// Converts batch_norm and native_batch_norm, in whatever form. In training
/// mode or without statistics, those of the batch are used.
static Value normalizeBatch(Node &node, bool ownStatistics) {
  Value x = node.getTensor("input");
  if (!x)
    return {};
  if (getRank(x) < 2)
    return node.broken("needs an input with channels, not one of shape " +
                       toString(getShape(x)));
  if (ownStatistics) {
    SmallVector<int64_t> axes = iota(getRank(x));
    axes.erase(axes.begin() + 1);
    return normalizeOver(node, x, axes);
  }
  int64_t channels = getShape(x)[1];
  Type element = getElement(x);
  Value weight = getOfChannels(node, "weight", channels, element, 1),
        bias = getOfChannels(node, "bias", channels, element, 0),
        mean = getOfChannels(node, "running_mean", channels, element, 0),
        variance = getOfChannels(node, "running_var", channels, element, 1);
  return node.create<nn::BatchNormOp>(x, weight, bias, mean, variance,
                                      APFloat(node.getFloat("eps", 1e-5)));
}

Value convertBatchNorm(Node &node) {
  bool isTraining = node.getBool("training");
  if (isTraining && node.has("running_mean"))
    return node.unsupported(
        "is in training mode; nnc compiles inference: call eval() on the "
        "module before the export");
  return normalizeBatch(node, isTraining || !node.has("running_mean"));
}
Value convertFixedBatchNorm(Node &node) {
  return normalizeBatch(node, /*ownStatistics=*/false);
}
Value convertOwnBatchNorm(Node &node) {
  return normalizeBatch(node, /*ownStatistics=*/true);
}

Value convertInstanceNorm(Node &node) {
  Value x = node.getTensor("input");
  if (!x)
    return {};
  if (getRank(x) < 3)
    return node.broken("needs an input with spatial axes, not one of shape " +
                       toString(getShape(x)));
  if (!node.getBool("use_input_stats", true))
    return normalizeBatch(node, /*ownStatistics=*/false);
  SmallVector<int64_t> axes = iota(getRank(x));
  return normalizeOver(node, x, ArrayRef(axes).drop_front(2));
}

/// Converts group_norm and native_group_norm, whose number of groups is the
/// argument `groups`. The native form has means and inverse deviations, batch x
/// groups, as further results.
static Value normalizeGroups(Node &node, StringRef groupsName) {
  Value x = node.getTensor("input");
  int64_t groups = node.getInt(groupsName);
  if (!x)
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() < 2)
    return node.broken("needs an input with channels, not one of shape " +
                       toString(shape));
  int64_t channels = shape[1];
  if (groups < 1 || channels % groups != 0)
    return node.broken("has " + Twine(groups) + " groups of " +
                       Twine(channels) + " channels");
  Type element = getElement(x);
  double epsilon = node.getFloat("eps", 1e-5);
  auto ofGroups = [&](StringRef name, double otherwise) {
    Value value = getOfChannels(node, name, channels, element, otherwise);
    return node.reshape(value, {groups, channels / groups, 1});
  };
  Value wide = node.reshape(
      x, {shape[0], groups, channels / groups, product(shape.drop_front(2))});
  Statistics statistics(node, wide, {2, 3});
  Value y = statistics.normalize(node, epsilon, ofGroups("weight", 1),
                                 ofGroups("bias", 0));
  if (node.getNumResults() > 1) {
    node.setResult(1, node.reshape(statistics.mean, {shape[0], groups}));
    node.setResult(2, node.reshape(statistics.getInverse(node, epsilon),
                                   {shape[0], groups}));
  }
  return node.reshape(y, shape);
}

Value convertGroupNorm(Node &node) {
  return normalizeGroups(node, "num_groups");
}
Value convertNativeGroupNorm(Node &node) {
  return normalizeGroups(node, "group");
}

/// Returns the first of the axes that `normalized_shape` has, or nullopt after
/// an error if these are not the last sizes of x.
static std::optional<int64_t> getNormalizedAxis(Node &node, Value x) {
  SmallVector<int64_t> sizes = node.getInts("normalized_shape");
  if (!x)
    return std::nullopt;
  if (sizes.empty() || static_cast<int64_t>(sizes.size()) > getRank(x) ||
      getShape(x).take_back(sizes.size()) != ArrayRef<int64_t>(sizes)) {
    node.broken("normalizes axes of sizes " + toString(ArrayRef(sizes)) +
                " of a tensor of shape " + toString(getShape(x)));
    return std::nullopt;
  }
  return getRank(x) - static_cast<int64_t>(sizes.size());
}

/// Converts layer_norm and native_layer_norm, which has the means and the
/// inverse deviations as further results.
Value convertLayerNorm(Node &node) {
  Value x = node.getTensor("input");
  auto axis = getNormalizedAxis(node, x);
  if (!axis)
    return {};
  ArrayRef<int64_t> normalized = getShape(x).drop_front(*axis);
  Value scale = node.getOptionalTensor("weight"),
        bias = node.getOptionalTensor("bias");
  Type element = getElement(x);
  scale = scale ? scale : node.splat(1, element, normalized);
  bias = bias ? bias : node.splat(0, element, normalized);
  if (getShape(scale) != normalized || getShape(bias) != normalized)
    return node.broken("needs a weight and a bias of shape " +
                       toString(normalized));
  double epsilon = node.getFloat("eps", 1e-5);
  if (node.getNumResults() > 1) {
    SmallVector<int64_t> axes = iota(getRank(x));
    Statistics statistics(node, x, ArrayRef(axes).drop_front(*axis));
    node.setResult(1, statistics.mean);
    node.setResult(2, statistics.getInverse(node, epsilon));
  }
  return node.create<nn::LayerNormOp>(x, node.castTo(scale, element),
                                      node.castTo(bias, element), *axis,
                                      APFloat(epsilon),
                                      /*accumulator=*/TypeAttr());
}

/// Converts rms_norm: x / sqrt(mean of squares + eps) * weight. The default of
/// eps is the distance of 1 from the next number of the type.
Value convertRmsNorm(Node &node) {
  Value x = node.getTensor("input");
  auto axis = getNormalizedAxis(node, x);
  if (!axis)
    return {};
  auto type = dyn_cast<FloatType>(getElement(x));
  if (!type)
    return node.unsupported("normalizes integers");
  double smallest = type.isF64() ? std::numeric_limits<double>::epsilon()
                                 : std::numeric_limits<float>::epsilon();
  SmallVector<int64_t> axes = iota(getRank(x));
  Value square = node.createElementwise("mul", {x, x});
  Value mean = node.create<nn::ReduceOp>(
      nn::ReduceKind::mean, square, ArrayRef(axes).drop_front(*axis), true);
  Value inverse = node.createElementwise(
      "rsqrt", node.createBinary("add", mean, node.getFloat("eps", smallest)));
  Value y = node.createElementwise("mul", {x, inverse});
  if (node.getNumResults() > 1)
    node.setResult(1, inverse);
  Value weight = node.getOptionalTensor("weight");
  return weight ? node.createElementwise(
                      "mul", {y, node.castTo(weight, getElement(x))})
                : y;
}

/// Converts _weight_norm: v * (g / the norm of v over all axes but `dim`).
Value convertWeightNorm(Node &node) {
  Value v = node.getTensor("v"), g = node.getTensor("g");
  int64_t dim = node.getInt("dim");
  if (!v || !g)
    return {};
  SmallVector<int64_t> axes = iota(getRank(v));
  if (dim != -1) {
    auto axis = node.normalizeAxis(dim, getRank(v));
    if (!axis)
      return {};
    axes.erase(axes.begin() + *axis);
  }
  Value norm = node.create<nn::ReduceOp>(nn::ReduceKind::l2, v, axes, true);
  if (node.getNumResults() > 1)
    node.setResult(1, norm);
  return node.createElementwise("mul",
                                {v, node.createElementwise("div", {g, norm})});
}

} // namespace nnc::torch
