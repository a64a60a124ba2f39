//===- LinearModels.cpp - LinearClassifier and LinearRegressor ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/learned/Learned.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns x * coefficients^T + intercepts, of `count` columns, in f32.
static Value multiply(Node &node, int64_t count) {
  Type f32 = node.getBuilder().getF32Type();
  Value x = getRows(node, f32);
  if (!x)
    return {};
  SmallVector<double> intercepts = node.getReals("intercepts");
  Value w = makeConstant(node, node.getReals("coefficients"), f32,
                         {count, getShape(x)[1]});
  Value y = node.create<nn::MatMulOp>(x, w, false, true, TypeAttr());
  if (intercepts.empty())
    return y;
  return node.createElementwise(
      "add", {y, makeConstant(node, intercepts, f32, count)});
}

Value convertLinearRegressor(Node &node) {
  Value y = multiply(node, node.getInt("targets", 1));
  return transformScores(node, y, node.getString("post_transform"));
}

/// Converts LinearClassifier. A binary classifier has one row of coefficients;
/// others have one row for each class.
Value convertLinearClassifier(Node &node) {
  Classes classes =
      readClasses(node, "classlabels_ints", "classlabels_strings");
  auto count = static_cast<int64_t>(node.getReals("intercepts").size());
  if (count == 0)
    count = classes.size();
  if (count < 1)
    return node.broken("has neither intercepts nor labels of classes");
  Value scores = multiply(node, count);
  if (!scores)
    return {};
  StringRef transform = node.getString("post_transform");
  if (count > 1) {
    if (int64_t(classes.size()) != count)
      return node.broken("has " + Twine(classes.size()) + " labels for " +
                         Twine(count) + " classes");
    node.setResult(1, transformScores(node, scores, transform));
    return makeLabels(node, findLargest(node, scores), classes);
  }
  bool hasTwo = classes.size() == 2;
  node.setResult(
      1, transformScores(node, scores, transform,
                         hasTwo ? SecondClass::complement : SecondClass::none));
  Value isPositive = node.createElementwise(
      "greater", {scores, node.splat(0, getElement(scores))});
  Value index =
      node.reshape(node.castTo(isPositive, node.getBuilder().getI64Type()),
                   getShape(scores).take_front(1));
  if (hasTwo)
    return makeLabels(node, index, classes);
  return classes.names.empty() ? index : node.asStrings(index, {"0", "1"});
}

} // namespace nnc::onnx
