//===- Matrices.cpp - Matrices of vectors, blocks and powers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Converts rot90: `k` quarter turns from the first to the second axis.
Value convertRot90(Node &node) {
  Value x = node.getTensor("self");
  SmallVector<int64_t> axes = node.getInts("dims", {0, 1});
  if (!x || !node.normalizeAxes(axes, getRank(x)))
    return {};
  if (axes.size() != 2)
    return node.broken("needs two axes");
  int64_t turns = ((node.getInt("k", 1) % 4) + 4) % 4;
  auto flip = [&](int64_t axis) {
    int64_t size = getShape(x)[axis];
    x = node.slice(x, axis, std::max<int64_t>(size - 1, 0), size, -1);
  };
  if (turns == 1 || turns == 2)
    flip(axes[1]);
  if (x && (turns == 2 || turns == 3))
    flip(axes[0]);
  if (!x || turns % 2 == 0)
    return x;
  SmallVector<int64_t> order = iota(getRank(x));
  std::swap(order[axes[0]], order[axes[1]]);
  return node.transpose(x, order);
}

/// Converts block_diag: a matrix with zeros around the given ones, which follow
/// each other along the diagonal. A vector is a row.
Value convertBlockDiag(Node &node) {
  SmallVector<Value> blocks = node.getTensors("tensors"), rows;
  SmallVector<Node::Operand> operands;
  for (Value block : blocks)
    operands.push_back({block});
  Type type = node.promote(operands);
  if (!type || blocks.empty())
    return node.hasFailed() ? Value() : node.broken("has no tensors");
  int64_t height = 0, width = 0;
  for (Value &block : blocks) {
    if (getRank(block) > 2)
      return node.broken("has a block that is no matrix");
    if (getRank(block) < 2)
      block = node.reshape(block, {1, getNumElements(block)});
    block = node.castTo(block, type);
    if (!block)
      return {};
    height += getShape(block)[0];
    width += getShape(block)[1];
  }
  if (!node.checkSize(RankedTensorType::get({height, width}, type)))
    return {};
  int64_t left = 0;
  for (Value block : blocks) {
    int64_t own = getShape(block)[0], right = left + getShape(block)[1];
    SmallVector<Value> pieces;
    if (left > 0)
      pieces.push_back(node.splat(0, type, {own, left}));
    pieces.push_back(block);
    if (right < width)
      pieces.push_back(node.splat(0, type, {own, width - right}));
    rows.push_back(pieces.size() == 1 ? block
                                      : node.create<nn::ConcatOp>(
                                            ValueRange(pieces), int64_t(1)));
    left = right;
  }
  return rows.size() == 1
             ? rows[0]
             : node.create<nn::ConcatOp>(ValueRange(rows), int64_t(0));
}

/// Converts cartesian_prod: a row for each choice of one element of each
/// vector, of which the last changes first.
Value convertCartesianProd(Node &node) {
  SmallVector<Value> vectors = node.getTensors("tensors"), columns;
  if (vectors.empty() || llvm::is_contained(vectors, Value()))
    return node.hasFailed() ? Value() : node.broken("has no tensors");
  if (vectors.size() == 1)
    return vectors[0];
  int64_t rank = vectors.size(), count = 1;
  SmallVector<int64_t> shape;
  for (Value vector : vectors)
    shape.push_back(getNumElements(vector));
  if (!node.checkSize(RankedTensorType::get(shape, getElement(vectors[0]))))
    return {};
  for (int64_t size : shape)
    count *= size;
  for (auto [axis, vector] : llvm::enumerate(vectors)) {
    SmallVector<int64_t> own(rank, 1);
    own[axis] = shape[axis];
    columns.push_back(node.reshape(
        node.expand(node.reshape(vector, own), shape), {count, 1}));
  }
  return node.create<nn::ConcatOp>(ValueRange(columns), int64_t(1));
}

/// Converts vander: the powers of each element of a vector along a new axis.
Value convertVander(Node &node) {
  Value x = node.getTensor("x");
  if (!x || getRank(x) == 0)
    return x ? node.broken("needs a vector") : x;
  int64_t axis = getRank(x), count = node.getInt("N", getShape(x).back());
  Type type = getComputedType(node.getStatedType());
  SmallVector<int64_t> shape(getShape(x));
  shape.push_back(count);
  if (!type || count < 0)
    return type ? node.broken("has a negative size") : Value();
  if (!node.checkSize(RankedTensorType::get(shape, type)))
    return {};
  shape[axis] = std::min<int64_t>(count, 1);
  Value powers = node.splat(1, type, shape);
  if (count > 1) {
    shape[axis] = count - 1;
    Value factors =
        node.expand(node.unsqueeze(node.castTo(x, type), axis), shape);
    SmallVector<Value> pieces = {
        powers, node.create<nn::CumProdOp>(factors, axis, false, false)};
    powers = node.create<nn::ConcatOp>(ValueRange(pieces), axis);
  }
  return node.getBool("increasing") || count < 2
             ? powers
             : node.slice(powers, axis, count - 1, count, -1);
}

} // namespace nnc::torch
