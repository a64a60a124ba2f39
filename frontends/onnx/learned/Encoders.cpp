//===- Encoders.cpp - Preprocessing of features ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/learned/Learned.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns a constant with one number for all elements of x, or one for each
/// index of its last axis.
static Value makeColumns(Node &node, ArrayRef<double> numbers, Type element,
                         Value x) {
  if (!x)
    return {};
  int64_t features = getRank(x) > 0 ? getShape(x).back() : 1;
  if (numbers.size() == 1)
    return makeConstant(node, numbers, element, {});
  if (int64_t(numbers.size()) != features)
    return node.broken("has a list of " + Twine(numbers.size()) +
                       " numbers for " + Twine(features) + " features");
  return makeConstant(node, numbers, element, features);
}

/// Converts Scaler: (x - offset) * scale.
Value convertScaler(Node &node) {
  Type type = getRealType(node);
  Value x = node.castTo(node.getOperand(0), type);
  SmallVector<double> offset = node.getReals("offset"),
                      scale = node.getReals("scale");
  if (!offset.empty())
    x = node.createElementwise("sub", {x, makeColumns(node, offset, type, x)});
  if (!scale.empty())
    x = node.createElementwise("mul", {x, makeColumns(node, scale, type, x)});
  return node.castTo(x, node.getBuilder().getF32Type());
}

/// Converts Normalizer: divides each row by its norm unless that is 0.
Value convertNormalizer(Node &node) {
  Type type = node.getBuilder().getF32Type();
  Value x = node.castTo(node.getOperand(0), type);
  StringRef kind = node.getString("norm");
  if (!x || getRank(x) < 1)
    return node.broken("needs a tensor with one axis or more");
  SmallVector<int64_t> axes = {getRank(x) > 1 ? 1 : 0};
  Value norm;
  if (kind == "L1")
    norm = node.create<nn::ReduceOp>(nn::ReduceKind::l1, x, axes, true);
  else if (kind == "L2")
    norm = node.create<nn::ReduceOp>(nn::ReduceKind::l2, x, axes, true);
  else if (kind == "MAX")
    norm = node.create<nn::ReduceOp>(nn::ReduceKind::max, x, axes, true);
  else
    return node.broken("has the norm '" + kind + "'; ONNX knows MAX, L1, L2");
  Value isZero = node.createElementwise("equal", {norm, node.splat(0, type)});
  norm = node.createElementwise("select", {isZero, node.splat(1, type), norm});
  return node.createElementwise("div", {x, norm});
}

/// Converts Imputer: replaces one value, or NaN, by given values.
Value convertImputer(Node &node) {
  Value x = node.getOperand(0);
  Type type = getElement(x);
  if (!type)
    return {};
  SmallVector<double> imputed = node.getReals("imputed_value_floats");
  double replaced = node.getFloat("replaced_value_float");
  bool isReal = isa<FloatType>(type);
  if (!isReal) {
    imputed.clear();
    if (auto values = node.getInts("imputed_value_int64s"))
      llvm::append_range(imputed, *values);
    replaced = static_cast<double>(node.getInt("replaced_value_int64"));
  }
  if (imputed.empty())
    return node.broken("has no values for elements of its type");
  Value isMissing =
      isReal && std::isnan(replaced)
          ? node.createElementwise("is_nan", x)
          : node.createElementwise("equal", {x, node.splat(replaced, type)});
  return node.createElementwise(
      "select", {isMissing, makeColumns(node, imputed, type, x), x});
}

Value convertBinarizer(Node &node) {
  Value x = node.getOperand(0);
  Type type = getElement(x);
  if (!type)
    return {};
  // The threshold is a float whatever the type.
  Type real = getRealType(node);
  Value isAbove = node.createElementwise(
      "greater",
      {node.castTo(x, real), node.splat(node.getFloat("threshold"), real)});
  return node.castTo(isAbove, type);
}

/// Converts OneHotEncoder: adds an axis with 1 at the position of the element's
/// value in a list and 0 elsewhere.
Value convertOneHotEncoder(Node &node) {
  auto categories = node.getInts("cats_int64s");
  if (!categories || categories->empty())
    return node.unsupported("encodes strings; encode them outside of the "
                            "model, and give it their numbers");
  Builder &builder = node.getBuilder();
  Value x = node.castTo(node.getOperand(0), builder.getI64Type());
  SmallVector<int64_t> shape(getShape(x));
  shape.push_back(1);
  Value isEqual = node.createElementwise(
      "equal", {node.reshape(x, shape), node.constant(*categories)});
  return node.castTo(isEqual, builder.getF32Type());
}

/// Converts ArrayFeatureExtractor: selects elements of the last axis. A vector
/// counts as one row.
Value convertArrayFeatureExtractor(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  if (!x || !indices)
    return {};
  if (getRank(x) < 1)
    return node.broken("selects elements of a scalar");
  if (getRank(x) == 1)
    x = node.reshape(x, {1, getNumElements(x)});
  return node.create<nn::GatherOp>(
      x, node.reshape(indices, {getNumElements(indices)}), getRank(x) - 1);
}

/// Converts FeatureVectorizer: concatenates columns of all operands; an
/// attribute gives the number for each.
Value convertFeatureVectorizer(Node &node) {
  auto sizes = node.getInts("inputdimensions");
  Type type = node.getBuilder().getF32Type();
  SmallVector<Value> parts;
  for (auto [i, operand] : llvm::enumerate(node.getOperands())) {
    Value x = node.castTo(operand, type);
    if (x && getRank(x) == 1)
      x = node.reshape(x, {getNumElements(x), 1});
    if (!x || getRank(x) != 2)
      return node.broken("needs operands of one or two axes");
    int64_t own = getShape(x)[1],
            wanted = sizes && i < sizes->size() ? (*sizes)[i] : own;
    if (wanted < 0 || wanted > kMaxDim)
      return node.broken("has an input dimension of " + Twine(wanted));
    if (wanted < own)
      x = node.create<nn::GatherOp>(x, node.constant(iota(wanted)), 1);
    parts.push_back(x);
    if (wanted > own)
      parts.push_back(node.splat(0, type, {getShape(x)[0], wanted - own}));
  }
  return node.create<nn::ConcatOp>(ValueRange(parts), 1);
}

/// Converts ZipMap to its operand instead of a map for each row. The names of
/// the columns are stored in the metadata.
Value convertZipMap(Node &node) {
  Classes classes =
      readClasses(node, "classlabels_int64s", "classlabels_strings");
  SmallVector<std::string> names = classes.names;
  if (classes.numbers != iota(classes.numbers.size()))
    for (int64_t number : classes.numbers)
      names.push_back(std::to_string(number));
  Value x = node.getOperand(0);
  if (x && classes.size() > 0 &&
      (getRank(x) < 1 || getShape(x).back() != int64_t(classes.size())))
    return node.broken("has " + Twine(classes.size()) +
                       " labels for scores of shape " + toString(getShape(x)));
  if (!names.empty())
    node.setColumnNames(0, names);
  return x;
}

} // namespace nnc::onnx
