//===- Learned.cpp - What operators of machine learning share -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/learned/Learned.h"

#include "dialects/nn/tensors/TensorData.h"
#include "frontends/onnx/graph/Strings.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

//===----------------------------------------------------------------------===//
// Operands, constants, labels
//===----------------------------------------------------------------------===//

Type getRealType(Node &node) {
  Builder &builder = node.getBuilder();
  return getElement(node.getOperand(0)).isF64() ? Type(builder.getF64Type())
                                                : builder.getF32Type();
}

Value getRows(Node &node, Type element) {
  Value x = node.castTo(node.getOperand(0), element);
  if (!x || getRank(x) == 2)
    return x;
  if (getRank(x) == 1)
    return node.reshape(x, {1, getNumElements(x)});
  return node.broken("needs a matrix of features, not an operand of shape " +
                     toString(getShape(x)));
}

Value makeConstant(Node &node, ArrayRef<double> values, Type element,
                   ArrayRef<int64_t> shape) {
  for (int64_t size : shape)
    if (size < 0 || size > kMaxDim)
      return node.broken("has a list of " + Twine(values.size()) +
                         " numbers for a tensor with an axis of " +
                         Twine(size) + " elements");
  auto type = RankedTensorType::get(shape, element);
  if (type.getNumElements() != int64_t(values.size()))
    return node.broken("has a list of " + Twine(values.size()) +
                       " numbers that should have " +
                       Twine(type.getNumElements()) + ", " + toString(shape));
  TensorData data = TensorData::allocate(type);
  auto fill = [&](auto *to) {
    for (double value : values)
      *to++ = static_cast<std::remove_reference_t<decltype(*to)>>(value);
  };
  if (element.isF32())
    fill(data.getMutable<float>());
  else if (element.isF64())
    fill(data.getMutable<double>());
  else if (element.isInteger(16))
    fill(data.getMutable<int16_t>());
  else if (element.isInteger(32))
    fill(data.getMutable<int32_t>());
  else if (element.isInteger(64))
    fill(data.getMutable<int64_t>());
  else
    fill(data.getMutable<int8_t>());
  return node.constant(data.toAttribute("learned"));
}

Classes readClasses(Node &node, StringRef numbers, StringRef names) {
  return {node.getInts(numbers).value_or(SmallVector<int64_t>()),
          node.getStrings(names)};
}

Value makeLabels(Node &node, Value indices, const Classes &classes) {
  if (!classes.names.empty())
    return node.asStrings(indices, classes.names);
  if (classes.numbers == iota(classes.numbers.size()))
    return indices;
  return node.create<nn::GatherOp>(node.constant(classes.numbers), indices, 0);
}

Value findLargest(Node &node, Value scores) {
  return node.create<nn::ArgMaxOp>(scores, 1, /*keepdims=*/false,
                                   /*select_last=*/false);
}

Value joinColumns(Node &node, Value a, Value b) {
  return node.create<nn::ConcatOp>(ValueRange{a, b}, 1);
}

//===----------------------------------------------------------------------===//
// Transforms of scores
//===----------------------------------------------------------------------===//

/// Returns the quantiles of the normal distribution for the probabilities p, by
/// Winitzki's approximation of the inverse error function with a = 0.147, which
/// onnxruntime uses, too.
static Value computeProbit(Node &node, Value p) {
  Type type = getElement(p);
  auto number = [&](double value) { return node.splat(value, type); };
  auto apply = [&](StringRef op, std::initializer_list<Value> operands) {
    return node.createElementwise(op, operands);
  };
  // With x = 2 p - 1: sqrt(2) sgn(x) sqrt(sqrt(v^2 - w) - v), where v is 2 /
  // (pi a) + log(1 - x^2) / 2 and w is log(1 - x^2) / a.
  constexpr double a = 0.147;
  Value x = apply("sub", {apply("mul", {p, number(2)}), number(1)});
  Value rest = apply(
      "mul", {apply("sub", {number(1), x}), apply("add", {number(1), x})});
  Value log = apply("log", {rest});
  Value v =
      apply("add", {apply("mul", {log, number(0.5)}), number(2 / (M_PI * a))});
  Value w = apply("mul", {log, number(1 / a)});
  Value root = apply("sqrt", {apply("sub", {apply("mul", {v, v}), w})});
  Value size = apply("sqrt", {apply("sub", {root, v})});
  Value sign = apply("select", {apply("less", {x, number(0)}), number(-M_SQRT2),
                                number(M_SQRT2)});
  return apply("mul", {size, sign});
}

/// Returns the softmax of the elements that are not close to zero. Elements
/// close to zero are multiplied by e^-max instead.
static Value computeSoftmaxZero(Node &node, Value x) {
  Type type = getElement(x);
  Value max = node.create<nn::ReduceOp>(nn::ReduceKind::max, x,
                                        ArrayRef<int64_t>(1), true);
  Value isSet = node.createElementwise(
      "greater", {node.createElementwise("abs", x), node.splat(1e-7, type)});
  Value power =
      node.createElementwise("exp", node.createElementwise("sub", {x, max}));
  Value small = node.createElementwise(
      "mul",
      {x, node.createElementwise("exp", node.createElementwise("neg", max))});
  Value counted =
      node.createElementwise("select", {isSet, power, node.splat(0, type)});
  Value sum = node.create<nn::ReduceOp>(nn::ReduceKind::sum, counted,
                                        ArrayRef<int64_t>(1), true);
  return node.createElementwise(
      "div", {node.createElementwise("select", {isSet, power, small}), sum});
}

/// Transforms each row of several scores.
static Value transformRows(Node &node, Value scores, StringRef transform) {
  if (!scores)
    return {};
  if (transform == "PROBIT")
    return computeProbit(node, scores);
  if (transform == "LOGISTIC")
    return node.createElementwise("sigmoid", scores);
  if (transform == "SOFTMAX")
    return node.create<nn::SoftmaxOp>(scores, 1, /*log=*/false);
  if (transform == "SOFTMAX_ZERO")
    return computeSoftmaxZero(node, scores);
  return scores;
}

Value transformScores(Node &node, Value scores, StringRef transform,
                      SecondClass second) {
  static constexpr StringLiteral names[] = {
      "", "NONE", "LOGISTIC", "PROBIT", "SOFTMAX", "SOFTMAX_ZERO"};
  if (!llvm::is_contained(names, transform))
    return node.broken("has the post_transform '" + transform + "'");
  if (!scores)
    return {};
  bool isProbit = transform == "PROBIT";
  if (getShape(scores)[1] > 1 || isProbit)
    return transformRows(node, scores, transform);
  if (second == SecondClass::none)
    return scores;
  bool isLogistic = transform == "LOGISTIC";
  Value other = isLogistic || second == SecondClass::opposite
                    ? node.createElementwise("neg", scores)
                    : node.createElementwise(
                          "sub", {node.splat(1, getElement(scores)), scores});
  Value both = joinColumns(node, other, scores);
  return isLogistic ? transformRows(node, both, transform) : both;
}

} // namespace nnc::onnx
