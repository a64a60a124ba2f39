//===- Activations.cpp - Activations and softmax -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Creates an elementwise op with real attributes.
static Value createWith(Node &node, StringRef op, Value x,
                        ArrayRef<std::pair<StringRef, double>> attributes) {
  Builder &builder = node.getBuilder();
  SmallVector<NamedAttribute> list;
  for (auto [name, value] : attributes)
    list.push_back(builder.getNamedAttr(name, builder.getF64FloatAttr(value)));
  return node.createElementwise(op, {x}, list);
}

/// Returns `a` where `condition` holds, and the number `b` elsewhere.
static Value selectOr(Node &node, Value condition, Value a, double b) {
  return a ? node.createElementwise(
                 "select", {condition, a, node.splat(b, getElement(a))})
           : Value();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static Value convertSoftmax(Node &node, bool log) {
  Value x = node.getTensor("self");
  Type element = node.getDtype("dtype");
  x = element ? node.castTo(x, element) : node.toReal(x);
  auto axis = node.getAxis("dim", getRank(x));
  if (!axis || !x)
    return {};
  if (getRank(x) > 0)
    return node.create<nn::SoftmaxOp>(x, *axis, log);
  Value y = node.create<nn::SoftmaxOp>(node.reshape(x, {1}), 0, log);
  return node.reshape(y, {});
}

Value convertSoftmax(Node &node) { return convertSoftmax(node, false); }
Value convertLogSoftmax(Node &node) { return convertSoftmax(node, true); }

/// Converts _safe_softmax, which gives zeros where all elements are -inf.
Value convertSafeSoftmax(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  Value y = convertSoftmax(node, false);
  auto axis = node.getAxis("dim", getRank(x));
  if (!y || !axis || getRank(x) == 0)
    return y;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value largest = node.create<nn::ReduceOp>(nn::ReduceKind::max, x,
                                            ArrayRef<int64_t>(*axis), true);
  Value isHidden = node.createElementwise(
      "equal", {largest, node.splat(-infinity, getElement(x))});
  return node.createElementwise("select",
                                {isHidden, node.splat(0, getElement(y)), y});
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Value convertGelu(Node &node) {
  StringRef approximation = node.getString("approximate", "none");
  if (approximation != "none" && approximation != "tanh")
    return node.broken("has the approximation '" + approximation + "'");
  return node.createElementwise(approximation == "tanh" ? "gelu_tanh" : "gelu",
                                {node.getTensor("self")});
}

/// Converts elu: scale * x where x > 0, else scale * alpha * (e^(x *
/// input_scale) - 1).
Value convertElu(Node &node) {
  Value x = node.getTensor("self");
  double alpha = node.getFloat("alpha", 1), scale = node.getFloat("scale", 1),
         inputScale = node.getFloat("input_scale", 1);
  if (inputScale == 1 && scale == 1)
    return createWith(node, "elu", x, {{"alpha", alpha}});
  if (inputScale == 1)
    return createWith(node, "selu", x, {{"alpha", alpha}, {"gamma", scale}});
  Value grown = createWith(node, "elu", node.createBinary("mul", x, inputScale),
                           {{"alpha", scale * alpha}});
  if (!grown)
    return {};
  Value isPositive = node.createBinary("greater", x, 0);
  return node.createElementwise(
      "select", {isPositive, node.createBinary("mul", x, scale), grown});
}

Value convertCelu(Node &node) {
  return createWith(node, "celu", node.getTensor("self"),
                    {{"alpha", node.getFloat("alpha", 1)}});
}

Value convertSelu(Node &node) {
  return createWith(node, "selu", node.getTensor("self"),
                    {{"alpha", 1.6732632423543772848170429916717},
                     {"gamma", 1.0507009873554804934193349852946}});
}

Value convertHardSigmoid(Node &node) {
  return createWith(node, "hard_sigmoid", node.getTensor("self"),
                    {{"alpha", 1.0 / 6}, {"beta", 0.5}});
}

static Value clip(Node &node, double low, double high) {
  Value x = node.getTensor("self");
  if (x && !isa<FloatType>(getElement(x)))
    return node.createBinary("min", node.createBinary("max", x, low), high);
  return createWith(node, "clip", x, {{"min", low}, {"max", high}});
}
Value convertHardTanh(Node &node) {
  return clip(node, node.getFloat("min_val", -1), node.getFloat("max_val", 1));
}
Value convertRelu6(Node &node) { return clip(node, 0, 6); }

Value convertLeakyRelu(Node &node) {
  return createWith(node, "leaky_relu", node.getTensor("self"),
                    {{"alpha", node.getFloat("negative_slope", 0.01)}});
}

/// Converts rrelu in inference: leaky_relu with the mean slope.
Value convertRRelu(Node &node) {
  if (node.getBool("training"))
    return node.unsupported("draws random slopes, in training mode");
  double low = node.getFloat("lower", 0.125),
         high = node.getFloat("upper", 1.0 / 3);
  return createWith(node, "leaky_relu", node.getTensor("self"),
                    {{"alpha", (low + high) / 2}});
}

/// Converts softplus: log(1 + e^(beta * x)) / beta, and x where beta * x is
/// above the threshold.
Value convertSoftplus(Node &node) {
  Value x = node.getTensor("self");
  double beta = node.getFloat("beta", 1),
         threshold = node.getFloat("threshold", 20);
  Value scaled = beta == 1 ? x : node.createBinary("mul", x, beta);
  Value y = node.createElementwise("softplus", {scaled});
  if (beta != 1)
    y = node.createBinary("div", y, beta);
  // Above 20 both forms are equal in float32.
  if (threshold >= 20)
    return y;
  Value isLinear = node.createBinary("greater", scaled, threshold);
  return node.createElementwise("select", {isLinear, x, y});
}

Value convertLogSigmoid(Node &node) {
  Value x = node.getTensor("self");
  Value y =
      node.createElementwise("softplus", {node.createElementwise("neg", {x})});
  return node.createElementwise("neg", {y});
}

/// Converts hardshrink: x where |x| > lambd, else 0.
Value convertHardShrink(Node &node) {
  Value x = node.getTensor("self");
  Value isKept =
      node.createBinary("greater", node.createElementwise("abs", {x}),
                        node.getFloat("lambd", 0.5));
  return selectOr(node, isKept, x, 0);
}

/// Converts softshrink: x - max(min(x, lambd), -lambd).
Value convertSoftShrink(Node &node) {
  Value x = node.getTensor("self");
  double bound = node.getFloat("lambd", 0.5);
  return node.createElementwise(
      "sub",
      {x, createWith(node, "clip", x, {{"min", -bound}, {"max", bound}})});
}

Value convertThreshold(Node &node) {
  Value x = node.getTensor("self");
  Value isKept = node.createBinary("greater", x, node.getFloat("threshold"));
  return selectOr(node, isKept, x, node.getFloat("value"));
}

/// Converts prelu, whose slopes are of the channels, axis 1.
Value convertPRelu(Node &node) {
  Value x = node.getTensor("self"), slope = node.getTensor("weight");
  if (!x || !slope)
    return {};
  if (getNumElements(slope) == 1 && getRank(slope) <= 1) {
    slope = node.reshape(slope, {});
  } else if (getRank(slope) == 1) {
    SmallVector<int64_t> shape(std::max<int64_t>(getRank(x) - 1, 1), 1);
    shape[0] = getNumElements(slope);
    slope = node.reshape(slope, shape);
  }
  return node.createElementwise("prelu", {x, slope});
}

/// Converts glu: the first half along an axis times the logistic function of
/// the second half.
Value convertGlu(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x), -1);
  if (!x || !axis)
    return {};
  if (getRank(x) == 0 || getShape(x)[*axis] % 2 != 0)
    return node.broken("halves an axis of a tensor of shape " +
                       toString(getShape(x)));
  int64_t half = getShape(x)[*axis] / 2;
  Value gate =
      node.createElementwise("sigmoid", {node.slice(x, *axis, half, half)});
  return node.createElementwise("mul", {node.slice(x, *axis, 0, half), gate});
}

} // namespace nnc::torch
