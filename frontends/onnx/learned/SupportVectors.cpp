//===- SupportVectors.cpp - SVMClassifier, SVMRegressor and CDist ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/learned/Learned.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns x to the power of `degree`.
static Value raise(Node &node, Value x, double degree) {
  if (!x)
    return {};
  if (!(degree >= 1 && degree <= 4) || degree != int(degree))
    return node.createElementwise("pow",
                                  {x, node.splat(degree, getElement(x))});
  Value power = x;
  for (int i = 1; i < int(degree); ++i)
    power = node.createElementwise("mul", {power, x});
  return power;
}

/// Returns the kernel of each row of x with each of `count` vectors, whose
/// elements are `vectors`.
static Value applyKernel(Node &node, Value x, ArrayRef<double> vectors,
                         int64_t count, StringRef kernel) {
  Type type = getElement(x);
  SmallVector<double> numbers = node.getReals("kernel_params");
  if (!numbers.empty() && numbers.size() < 3)
    return node.broken("has " + Twine(numbers.size()) +
                       " kernel_params; it needs gamma, coef0 and degree");
  numbers.resize(3);
  auto number = [&](double value) { return node.splat(value, type); };
  Value w = makeConstant(node, vectors, type, {count, getShape(x)[1]});
  if (kernel == "RBF") {
    Value distance = node.create<nn::SquaredDistanceOp>(x, w);
    return node.createElementwise(
        "exp", node.createElementwise("mul", {distance, number(-numbers[0])}));
  }
  Value product = node.create<nn::MatMulOp>(x, w, false, true, TypeAttr());
  if (kernel == "LINEAR")
    return product;
  if (kernel != "POLY" && kernel != "SIGMOID")
    return node.broken("has the kernel '" + kernel + "'");
  Value line = node.createElementwise(
      "add", {node.createElementwise("mul", {product, number(numbers[0])}),
              number(numbers[1])});
  return kernel == "POLY" ? raise(node, line, numbers[2])
                          : node.createElementwise("tanh", line);
}

/// Converts CDist of the domain com.microsoft: distances between the rows of
/// two matrices.
Value convertCDist(Node &node) {
  StringRef metric = node.getString("metric");
  if (metric != "euclidean" && metric != "sqeuclidean")
    return node.unsupported("has the metric '" + metric +
                            "'; nnc knows euclidean and sqeuclidean");
  Value y = node.create<nn::SquaredDistanceOp>(node.getOperand(0),
                                               node.getOperand(1));
  return metric == "euclidean" ? node.createElementwise("sqrt", y) : y;
}

/// Returns values + offset.
static Value shift(Node &node, Value values, double offset) {
  if (!values)
    return {};
  return node.createElementwise(
      "add", {values, node.splat(offset, getElement(values))});
}

Value convertSVMRegressor(Node &node) {
  Value x = getRows(node, node.getBuilder().getF32Type());
  SmallVector<double> coefficients = node.getReals("coefficients"),
                      rho = node.getReals("rho");
  int64_t count = node.getInt("n_supports");
  if (rho.empty() || coefficients.empty())
    return node.broken("needs coefficients and rho");
  if (!x)
    return {};
  Value y;
  if (count > 0) {
    Value kernels = applyKernel(node, x, node.getReals("support_vectors"),
                                count, node.getString("kernel_type"));
    Value w = makeConstant(node, coefficients, getElement(x), {1, count});
    y = node.create<nn::MatMulOp>(kernels, w, false, true, TypeAttr());
  } else {
    y = applyKernel(node, x, coefficients, 1, "LINEAR");
  }
  y = shift(node, y, rho[0]);
  if (!y || !node.getBool("one_class"))
    return y;
  Type type = getElement(y);
  return node.createElementwise(
      "select", {node.createElementwise("greater", {y, node.splat(0, type)}),
                 node.splat(1, type), node.splat(-1, type)});
}

//===----------------------------------------------------------------------===//
// Classifiers
//===----------------------------------------------------------------------===//

/// Returns for each row and pair of classes, (0, 1), (0, 2), ... (1, 2), ..., a
/// score that is positive for the first of both. Each support vector belongs to
/// a class. Row j of the coefficients belongs to the pair of the vector's class
/// and class j, or j + 1 if j is not below the vector's class.
static Value scorePairs(Node &node, Value kernels, ArrayRef<int64_t> counts,
                        ArrayRef<double> rho) {
  auto classes = static_cast<int64_t>(counts.size());
  int64_t vectors = getShape(kernels)[1], pairs = classes * (classes - 1) / 2;
  SmallVector<double> coefficients = node.getReals("coefficients");
  if (int64_t(coefficients.size()) < (classes - 1) * vectors ||
      int64_t(rho.size()) < pairs)
    return node.broken("has " + Twine(coefficients.size()) +
                       " coefficients and " + Twine(rho.size()) +
                       " numbers rho for " + Twine(vectors) +
                       " support vectors of " + Twine(classes) + " classes");
  SmallVector<int64_t> starts = {0};
  for (int64_t count : counts)
    starts.push_back(starts.back() + count);
  Type type = getElement(kernels);
  if (!node.checkSize(RankedTensorType::get({pairs, vectors}, type)) ||
      !node.checkSize(RankedTensorType::get({pairs, classes}, type)))
    return {};
  std::vector<double> matrix(pairs * vectors);
  double *row = matrix.data();
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, row += vectors) {
      for (int64_t v = starts[i]; v < starts[i + 1]; ++v)
        row[v] = coefficients[(j - 1) * vectors + v];
      for (int64_t v = starts[j]; v < starts[j + 1]; ++v)
        row[v] = coefficients[i * vectors + v];
    }
  Value scores = node.create<nn::MatMulOp>(
      kernels, makeConstant(node, matrix, type, {pairs, vectors}), false, true,
      TypeAttr());
  return node.createElementwise(
      "add", {scores, makeConstant(node, rho.take_front(pairs), type, pairs)});
}

/// Returns the class that wins most pairs.
static Value countVotes(Node &node, Value scores, int64_t classes) {
  // Each pair gives one vote, to its first or its second class.
  Type type = getElement(scores);
  int64_t pairs = getShape(scores)[1];
  std::vector<double> matrix(pairs * classes), constant(classes);
  double *row = matrix.data();
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, row += classes) {
      row[i] = 1;
      row[j] = -1;
      ++constant[j];
    }
  Value isFirst = node.castTo(
      node.createElementwise("greater", {scores, node.splat(0, type)}), type);
  Value votes = node.create<nn::MatMulOp>(
      isFirst, makeConstant(node, matrix, type, {pairs, classes}), false, false,
      TypeAttr());
  return findLargest(
      node, node.createElementwise(
                "add", {votes, makeConstant(node, constant, type, classes)}));
}

/// Returns the probabilities of classes that follow from scores of pairs.
static Value findProbabilities(Node &node, Value scores, int64_t classes) {
  Type type = getElement(scores);
  int64_t pairs = getShape(scores)[1];
  SmallVector<double> a = node.getReals("prob_a"), b = node.getReals("prob_b");
  if (int64_t(a.size()) != pairs || int64_t(b.size()) != pairs)
    return node.broken("has " + Twine(a.size()) + " numbers prob_a and " +
                       Twine(b.size()) + " prob_b for " + Twine(pairs) +
                       " pairs of classes");
  // 1 - sigmoid(v) would lose precision that sigmoid(-v) keeps.
  Value line = node.createElementwise(
      "add", {node.createElementwise(
                  "mul", {scores, makeConstant(node, a, type, pairs)}),
              makeConstant(node, b, type, pairs)});
  Value p =
      node.createElementwise("sigmoid", node.createElementwise("neg", line));
  p = node.createElementwise("max", {p, node.splat(1e-7, type)});
  p = node.createElementwise("min", {p, node.splat(1 - 1e-7, type)});
  return node.create<nn::CoupleProbabilitiesOp>(p, classes);
}

/// Returns the linear scores of all classes for a classifier without support
/// vectors.
static Value classifyLinear(Node &node, Value x, const Classes &classes,
                            ArrayRef<double> rho) {
  SmallVector<double> coefficients = node.getReals("coefficients");
  auto count = static_cast<int64_t>(classes.size());
  Value scores =
      shift(node, applyKernel(node, x, coefficients, count, "LINEAR"), rho[0]);
  if (!scores)
    return {};
  node.setResult(
      1, transformScores(node, scores, node.getString("post_transform")));
  Value index = findLargest(node, scores);
  if (count != 2)
    return makeLabels(node, index, classes);
  // In binary classification the second class wins if any score is large.
  bool isPositive =
      llvm::all_of(coefficients, [](double value) { return value >= 0; });
  Type type = getElement(scores);
  Value largest = node.create<nn::ReduceOp>(nn::ReduceKind::max, scores,
                                            ArrayRef<int64_t>(1), false);
  Value isLarge =
      node.createElementwise(isPositive ? "greater_equal" : "greater",
                             {largest, node.splat(isPositive ? 0.5 : 0, type)});
  Type i64 = node.getBuilder().getI64Type();
  index =
      node.createElementwise("select", {isLarge, node.splat(1, i64), index});
  return makeLabels(node, index, classes);
}

Value convertSVMClassifier(Node &node) {
  Value x = getRows(node, node.getBuilder().getF32Type());
  Classes classes =
      readClasses(node, "classlabels_ints", "classlabels_strings");
  SmallVector<int64_t> counts =
      node.getInts("vectors_per_class").value_or(SmallVector<int64_t>());
  SmallVector<double> rho = node.getReals("rho");
  auto count = static_cast<int64_t>(classes.size());
  if (count < 2 || rho.empty())
    return node.broken("needs rho and the labels of two classes or more");
  if (!x)
    return {};
  int64_t vectors = 0;
  for (int64_t own : counts) {
    if (own < 0 || own > kMaxDim)
      return node.broken("has a class with " + Twine(own) + " support vectors");
    vectors += own;
  }
  if (vectors == 0)
    return classifyLinear(node, x, classes, rho);
  if (int64_t(counts.size()) != count)
    return node.broken("has " + Twine(counts.size()) +
                       " numbers of support vectors for " + Twine(count) +
                       " classes");
  Value kernels = applyKernel(node, x, node.getReals("support_vectors"),
                              vectors, node.getString("kernel_type"));
  Value scores = kernels ? scorePairs(node, kernels, counts, rho) : Value();
  if (!scores)
    return {};
  StringRef transform = node.getString("post_transform");
  Value result = scores;
  if (node.hasAttribute("prob_a") && !node.getReals("prob_a").empty())
    result = findProbabilities(node, scores, count);
  // Without probabilities the only pair of two classes has one score.
  node.setResult(1, transformScores(node, result, transform,
                                    transform == "NONE"
                                        ? SecondClass::opposite
                                        : SecondClass::complement));
  return makeLabels(node, countVotes(node, scores, count), classes);
}

} // namespace nnc::onnx
