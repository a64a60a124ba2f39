//===- Attention.cpp - Scaled dot-product attention ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns a mask of the shape rows x columns that is 0 where the column is at
/// most the row, and -inf elsewhere.
static Value makeCausalMask(Node &node, int64_t rows, int64_t columns,
                            Type element) {
  auto type =
      RankedTensorType::get({rows, columns}, node.getBuilder().getF32Type());
  if (!node.checkSize(type, /*isMade=*/true))
    return {};
  SmallVector<float> values;
  values.reserve(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      values.push_back(column <= row ? 0
                                     : -std::numeric_limits<float>::infinity());
  return node.castTo(
      node.constant(DenseElementsAttr::get(type, ArrayRef<float>(values))),
      element);
}

/// Repeats each head of keys or values, of axis -3, so that there are `heads`.
static Value repeatHeads(Node &node, Value x, int64_t heads) {
  if (getRank(x) < 3)
    return x;
  SmallVector<int64_t> shape(getShape(x)), wide(shape);
  size_t axis = shape.size() - 3;
  if (shape[axis] == heads)
    return x;
  if (shape[axis] < 1 || heads % shape[axis] != 0)
    return node.broken("has " + Twine(heads) + " heads of queries and " +
                       Twine(shape[axis]) + " of keys or values");
  int64_t times = heads / shape[axis];
  wide.insert(wide.begin() + axis + 1, times);
  shape[axis] = heads;
  return node.reshape(node.expand(node.unsqueeze(x, axis + 1), wide), shape);
}

/// Returns the mask as numbers that are added to scores: 0 where it is true and
/// -inf where it is false, or its own numbers.
static Value toBias(Node &node, Value mask, Type element) {
  if (!getElement(mask).isInteger(1))
    return node.castTo(mask, element);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return node.createElementwise(
      "select", {mask, node.splat(0, element), node.splat(-infinity, element)});
}

/// Returns `y` with rows of zeros for queries that `bias` hides all keys from:
/// the softmax of such a row is NaN, and PyTorch gives zeros.
static Value clearHidden(Node &node, Value y, Value bias) {
  SmallVector<int64_t> last = {getRank(bias) - 1};
  Value largest =
      node.create<nn::ReduceOp>(nn::ReduceKind::max, bias, last, true);
  if (!largest)
    return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value isHidden = node.createElementwise(
      "equal", {largest, node.splat(-infinity, getElement(bias))});
  return node.createElementwise("select",
                                {isHidden, node.splat(0, getElement(y)), y});
}

/// Converts scaled_dot_product_attention and the kernels that it may be
/// exported as: softmax(q . k * scale + mask) . v.
Value convertAttention(Node &node) {
  Value q = node.getTensor("query"), k = node.getTensor("key"),
        v = node.getTensor("value");
  Value mask = node.getOptionalTensor("attn_mask");
  if (!q || !k || !v)
    return {};
  if (getRank(q) < 2 || getRank(k) < 2 || getRank(v) < 2)
    return node.broken("has queries, keys or values of fewer than 2 axes");
  if (node.getFloat("dropout_p") != 0)
    return node.unsupported(
        "drops out attention; nnc compiles inference: export the module in "
        "evaluation mode, with a dropout_p of 0");
  if (node.getBool("enable_gqa") && getRank(q) >= 3) {
    int64_t heads = getShape(q)[getRank(q) - 3];
    k = repeatHeads(node, k, heads);
    v = repeatHeads(node, v, heads);
  }
  Type element = getElement(q);
  auto size = static_cast<double>(getShape(q).back());
  double scale = node.getFloat("scale", 1 / std::sqrt(size));
  Value scores = node.create<nn::MatMulOp>(q, k, /*transpose_a=*/false,
                                           /*transpose_b=*/true, TypeAttr());
  scores = node.createBinary("mul", scores, scale);
  if (!scores)
    return {};
  Value bias = mask ? toBias(node, mask, element) : Value();
  if (node.getBool("is_causal")) {
    Value causal = makeCausalMask(node, getShape(q)[getRank(q) - 2],
                                  getShape(k)[getRank(k) - 2], element);
    bias = bias ? node.createElementwise("add", {bias, causal}) : causal;
  }
  if (bias)
    scores = node.createElementwise("add", {scores, bias});
  Value shares = node.create<nn::SoftmaxOp>(scores, getRank(scores) - 1, false);
  Value y = node.create<nn::MatMulOp>(shares, v, false, false, TypeAttr());
  return mask && y ? clearHidden(node, y, bias) : y;
}

} // namespace nnc::torch
