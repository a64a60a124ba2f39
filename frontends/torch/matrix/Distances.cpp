//===- Distances.cpp - Distances of vectors -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the norm of order p of the vectors along an axis.
static Value getNorm(Node &node, Value x, double p, int64_t axis,
                     bool keepsAxis) {
  SmallVector<int64_t> axes = {axis};
  auto reduce = [&](nn::ReduceKind kind, Value of) {
    return node.create<nn::ReduceOp>(kind, of, axes, keepsAxis);
  };
  if (p == 1)
    return reduce(nn::ReduceKind::l1, x);
  if (p == 2)
    return reduce(nn::ReduceKind::l2, x);
  Value size = node.createElementwise("abs", {x});
  if (std::isinf(p) && p > 0)
    return reduce(nn::ReduceKind::max, size);
  if (!(p > 0))
    return node.unsupported("has a norm of order " + frontends::toString(p));
  Value sum = reduce(nn::ReduceKind::sum, node.createBinary("pow", size, p));
  return node.createBinary("pow", sum, 1 / p);
}

/// Converts pairwise_distance: the norm of x1 - x2 + eps along the last axis.
Value convertPairwiseDistance(Node &node) {
  Value apart = node.createElementwise(
      "sub", {node.getTensor("x1"), node.getTensor("x2")});
  apart = node.createBinary("add", apart, node.getFloat("eps", 1e-6));
  if (!apart)
    return {};
  return getNorm(node, apart, node.getFloat("p", 2), getRank(apart) - 1,
                 node.getBool("keepdim"));
}

/// Converts cdist: the distances of all pairs of rows of two matrices.
Value convertCDist(Node &node) {
  Value a = node.getTensor("x1"), b = node.getTensor("x2");
  if (!a || !b)
    return {};
  if (getRank(a) < 2 || getRank(b) < 2)
    return node.broken("has operands of shapes " + toString(getShape(a)) +
                       " and " + toString(getShape(b)));
  Value apart =
      node.createElementwise("sub", {node.unsqueeze(a, getRank(a) - 1),
                                     node.unsqueeze(b, getRank(b) - 2)});
  if (!apart)
    return {};
  return getNorm(node, apart, node.getFloat("p", 2), getRank(apart) - 1,
                 /*keepsAxis=*/false);
}

/// Converts pdist: the distances of all pairs of different rows.
Value convertPDist(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  if (getRank(x) != 2)
    return node.broken("has an operand of shape " + toString(getShape(x)));
  SmallVector<int64_t> first, second;
  int64_t count = getShape(x)[0];
  if (!node.checkSize(
          RankedTensorType::get({count, count}, node.getBuilder().getI64Type()),
          /*isMade=*/true))
    return {};
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = i + 1; j < count; ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  auto take = [&](ArrayRef<int64_t> rows) {
    return node.create<nn::GatherOp>(x, node.constant(rows), int64_t(0));
  };
  Value apart = node.createElementwise("sub", {take(first), take(second)});
  return apart ? getNorm(node, apart, node.getFloat("p", 2), 1,
                         /*keepsAxis=*/false)
               : Value();
}

} // namespace nnc::torch
