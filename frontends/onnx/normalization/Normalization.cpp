//===- Normalization.cpp - Softmax and normalisations ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Statistics.h"
#include "frontends/onnx/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Value convertSoftmax(Node &node, bool log) {
  Value x = node.getOperand(0);
  SmallVector<int64_t> shape(getShape(x));
  if (shape.empty()) // one element: e^x / e^x
    shape.push_back(1);
  auto axis = node.normalizeAxis(node.getInt("axis"), shape.size());
  if (!axis)
    return {};
  x = node.reshape(x, shape);
  // Before opset 13 all axes from `axis` on were treated as one.
  ArrayRef<int64_t> from = ArrayRef(shape).drop_front(*axis);
  bool isOne = node.getVersion() >= 13 || product(from) == from[0];
  if (!isOne) {
    x = node.reshape(
        x, {product(ArrayRef(shape).take_front(*axis)), product(from)});
    axis = 1;
  }
  Value y = node.create<nn::SoftmaxOp>(x, *axis, log);
  return node.reshape(y, getShape(node.getOperand(0)));
}

Value convertSoftmax(Node &node) { return convertSoftmax(node, false); }
Value convertLogSoftmax(Node &node) { return convertSoftmax(node, true); }

//===----------------------------------------------------------------------===//
// With the input's own statistics
//===----------------------------------------------------------------------===//

Value convertLayerNormalization(Node &node) {
  Value x = node.getOperand(0), bias = node.getOperand(2);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  ArrayRef<int64_t> normalized = getShape(x).drop_front(*axis);
  Value scale = node.expand(node.getOperand(1), normalized);
  bias = bias ? node.expand(bias, normalized)
              : node.splat(0, getElement(x), normalized);
  Value y = node.create<nn::LayerNormOp>(x, scale, bias, *axis,
                                         APFloat(node.getFloat("epsilon")),
                                         /*accumulator=*/TypeAttr());
  if (node.hasResult(1) || node.hasResult(2)) {
    SmallVector<int64_t> axes = iota(getRank(x));
    Statistics s(node, x, ArrayRef(axes).drop_front(*axis));
    if (node.hasResult(1))
      node.setResult(1, s.mean);
    if (node.hasResult(2))
      node.setResult(2, s.getInverse(node, node.getFloat("epsilon")));
  }
  return y;
}

Value convertInstanceNormalization(Node &node) {
  Value x = node.getOperand(0);
  if (getRank(x) < 3)
    return node.broken("needs an input with spatial axes, not one of shape " +
                       toString(getShape(x)));
  SmallVector<int64_t> axes = iota(getRank(x));
  SmallVector<int64_t> channels(getRank(x) - 1, 1);
  channels[0] = getShape(x)[1];
  for (Value operand : node.getOperands().drop_front())
    if (getShape(operand) != ArrayRef<int64_t>(channels[0]))
      return node.broken("needs one scale and one bias for each of " +
                         Twine(channels[0]) + " channels");
  return Statistics(node, x, ArrayRef(axes).drop_front(2))
      .normalize(node, node.getFloat("epsilon"),
                 node.reshape(node.getOperand(1), channels),
                 node.reshape(node.getOperand(2), channels));
}

/// Converts GroupNormalization: instance normalization over groups of channels.
/// Scale and bias are per channel; the deprecated version of opset 18 had them
/// per group.
Value convertGroupNormalization(Node &node) {
  Value x = node.getOperand(0);
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() < 2)
    return node.broken("needs an input with channels, not one of shape " +
                       toString(shape));
  int64_t channels = shape[1], groups = node.getInt("num_groups");
  if (groups < 1 || channels % groups != 0)
    return node.broken("has num_groups " + Twine(groups) + " for " +
                       Twine(channels) + " channels, which that must divide");
  SmallVector<Value> parameters;
  for (Value operand : node.getOperands().drop_front()) {
    if (getShape(operand) != ArrayRef<int64_t>(channels))
      return node.broken("needs one scale and one bias for each of " +
                         Twine(channels) + " channels");
    parameters.push_back(node.reshape(node.castTo(operand, getElement(x)),
                                      {groups, channels / groups, 1}));
  }
  x = node.reshape(
      x, {shape[0], groups, channels / groups, product(shape.drop_front(2))});
  Value y = Statistics(node, x, {2, 3})
                .normalize(node, node.getFloat("epsilon"), parameters[0],
                           parameters[1]);
  return node.reshape(y, getShape(node.getOperand(0)));
}

/// Converts MeanVarianceNormalization: (x - mean) / (deviation + 1e-9).
Value convertMeanVarianceNormalization(Node &node) {
  Value x = node.getOperand(0);
  std::optional<SmallVector<int64_t>> axes;
  if (!node.getAxes(1, "axes", getRank(x), axes))
    return {};
  if (!axes)
    axes = iota(getRank(x));
  llvm::sort(*axes);
  Statistics s(node, x, *axes);
  Value deviation =
      node.createElementwise("add", {node.createElementwise("sqrt", s.variance),
                                     node.splat(1e-9, getElement(x))});
  return node.createElementwise("div", {s.centered, deviation});
}

/// Converts LpNormalization: divides vectors along an axis by their norms.
Value convertLpNormalization(Node &node) {
  Value x = node.getOperand(0);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  int64_t p = node.getInt("p");
  if (!axis)
    return {};
  if (p != 1 && p != 2)
    return node.broken("has norm " + Twine(p) + "; ONNX knows 1 and 2");
  Value norm = node.create<nn::ReduceOp>(p == 1 ? nn::ReduceKind::l1
                                                : nn::ReduceKind::l2,
                                         x, ArrayRef<int64_t>(*axis), true);
  // A vector with norm 0 is all zeros and is not changed.
  Type type = getElement(x);
  Value isZero = node.createElementwise("equal", {norm, node.splat(0, type)});
  norm = node.createElementwise("select", {isZero, node.splat(1, type), norm});
  return node.createElementwise("div", {x, norm});
}

/// Converts LRN: x / (bias + alpha / size * sum of squares over `size`
/// channels) ^ beta. The sum over size is a mean along the channels that counts
/// the padding.
Value convertLRN(Node &node) {
  Value x = node.getOperand(0);
  ArrayRef<int64_t> shape = getShape(x);
  int64_t size = node.getInt("size");
  if (shape.size() < 2)
    return node.broken("needs an input with channels, not one of shape " +
                       toString(shape));
  if (size < 1 || size > INT32_MAX)
    return node.broken("has size " + Twine(size));
  Value square = node.createElementwise("mul", {x, x});
  square = node.reshape(square,
                        {shape[0], 1, shape[1], product(shape.drop_front(2))});
  SmallVector<int64_t> kernel = {size, 1}, ones = {1, 1},
                       pads = {(size - 1) / 2, 0, size / 2, 0};
  Value mean =
      node.create<nn::AvgPoolOp>(square, kernel, ones, ones, pads, false, true,
                                 /*accumulator=*/TypeAttr());
  mean = node.reshape(mean, shape);
  Type type = getElement(x);
  auto real = [&](StringRef name) {
    return node.splat(node.getFloat(name), type);
  };
  Value sum = node.createElementwise(
      "add",
      {node.createElementwise("mul", {mean, real("alpha")}), real("bias")});
  return node.createElementwise(
      "div", {x, node.createElementwise("pow", {sum, real("beta")})});
}

//===----------------------------------------------------------------------===//
// With given statistics
//===----------------------------------------------------------------------===//

/// Returns the words for the property that sets training mode, in which the
/// node computes the statistics of the batch, or an empty text. Until opset 6
/// and from opset 14 on, that is an attribute. In between, a node that names
/// the new statistics as results is in training mode, even if nothing reads
/// them.
static StringRef findTrainingMode(Node &node) {
  if (node.getVersion() >= 14)
    return node.getBool("training_mode") ? "training_mode=1" : "";
  if (node.getVersion() < 7)
    return node.getBool("is_test") ? "" : "is_test=0";
  for (size_t i = 1; i < node.getNumResults(); ++i)
    if (node.namesResult(i))
      return "results for the statistics of the batch";
  return "";
}

/// Returns true if a value is computed from constants alone. Exporters write
/// the standardization of weights as a batch normalization in training mode.
static bool isKnown(Value value) {
  SmallVector<Value> rest = {value};
  DenseSet<Operation *> seen;
  while (!rest.empty()) {
    Operation *op = rest.pop_back_val().getDefiningOp();
    if (!op)
      return false;
    if (seen.insert(op).second)
      llvm::append_range(rest, op->getOperands());
  }
  return true;
}

/// Normalizes each channel of x by its own mean and variance.
static Value standardize(Node &node, Value x) {
  SmallVector<int64_t> axes = iota(getRank(x)), channels(getRank(x) - 1, 1);
  axes.erase(axes.begin() + 1);
  channels[0] = getShape(x)[1];
  auto ofChannels = [&](size_t i) {
    return node.reshape(node.castTo(node.getOperand(i), getElement(x)),
                        channels);
  };
  return Statistics(node, x, axes)
      .normalize(node, node.getFloat("epsilon"), ofChannels(1), ofChannels(2));
}

Value convertBatchNormalization(Node &node) {
  Value x = node.getOperand(0);
  StringRef why = findTrainingMode(node);
  if (!why.empty() && isKnown(x) && getRank(x) > 1 && !node.hasResult(1) &&
      !node.hasResult(2))
    return standardize(node, x);
  if (!why.empty())
    return node.unsupported("is in training mode (it has " + why +
                            "); nnc compiles inference: export the model in "
                            "evaluation mode");
  if (node.getInt("spatial", 1) == 0)
    return node.unsupported("has spatial=0 (statistics of each element)");
  SmallVector<Value> operands = {x};
  for (Value statistic : node.getOperands().drop_front())
    operands.push_back(node.castTo(statistic, getElement(x)));
  return node.create<nn::BatchNormOp>(operands[0], operands[1], operands[2],
                                      operands[3], operands[4],
                                      APFloat(node.getFloat("epsilon")));
}

} // namespace nnc::onnx
