//===- Found.cpp - nonzero, masked_select, unique and nms -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A routine finds a number of elements and writes this number in front of them;
// the result is the slice of the elements that were found
// (frontends/common/Lengths.h).
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/lengths/Found.h"

#include "frontends/torch/moves/Moves.h"

#include <limits>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the list of nn.find: the number of elements of `mask` that are not
/// zero, and their positions.
static Value findAll(Node &node, Value mask) {
  return mask ? node.create<nn::FindOp>(
                    node.reshape(mask, {getNumElements(mask)}))
              : Value();
}

/// Returns the first `size` elements of a list of `most` behind its number.
static Value cutFound(Node &node, Value list, int64_t start, int64_t most,
                      std::optional<unsigned> size) {
  return list && size ? node.getImporter().getLengths().cut(
                            node, node.slice(list, 0, start, most), *size)
                      : Value();
}

Value findPositions(Node &node, Value mask, size_t result, int64_t axis) {
  Value list = findAll(node, mask);
  if (!list)
    return {};
  int64_t most = getNumElements(mask);
  return cutFound(node, list, 1, most,
                  node.getImporter().addLength(node, result, axis, most,
                                               node.slice(list, 0, 0, 1)));
}

Value findPositionsOf(Node &node, Value mask, StringRef name, int64_t axis) {
  auto size = node.getImporter().findLength(node.getScope(),
                                            node.getTensorName(name), axis);
  if (!size)
    return node.unsupported(
        "assigns to elements that a mask selects, of which there are as many "
        "as the data say, from a tensor of another size; use torch.where in "
        "the model");
  return cutFound(node, findAll(node, mask), 1, getNumElements(mask), size);
}

SmallVector<Value> splitPositions(Node &node, Value positions,
                                  ArrayRef<int64_t> shape) {
  SmallVector<Value> indices;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
    Value index = positions;
    if (int64_t stride = getStride(shape, axis); stride != 1)
      index = node.createBinary("div", index, static_cast<double>(stride));
    if (axis != 0)
      index = node.createBinary("mod", index, static_cast<double>(shape[axis]));
    indices.push_back(index);
  }
  return indices;
}

/// Converts nonzero: a row of indices for each element that is not zero.
Value convertNonZero(Node &node) {
  Value x = node.getTensor("self");
  Value positions = x ? findPositions(node, x, 0, 0) : Value();
  if (!positions || getRank(x) == 0)
    return positions
               ? node.unsupported("reads a scalar; reshape it to a vector")
               : Value();
  int64_t count = getNumElements(positions);
  SmallVector<Value> columns;
  for (Value index : splitPositions(node, positions, getShape(x)))
    columns.push_back(node.reshape(index, {count, 1}));
  return columns.size() == 1
             ? columns[0]
             : node.create<nn::ConcatOp>(ValueRange(columns), int64_t(1));
}

/// Converts nonzero_static: a row of indices for each of the first `size`
/// elements that are not zero, and rows of `fill_value` behind them.
Value convertNonZeroStatic(Node &node) {
  Value x = node.getTensor("self");
  int64_t size = node.getInt("size");
  Value list = findAll(node, x);
  if (!list)
    return {};
  if (getRank(x) == 0 || size < 0)
    return node.unsupported("reads a scalar, or finds a negative number");
  Type integer = node.getBuilder().getI64Type();
  if (!node.checkSize(RankedTensorType::get({size, getRank(x)}, integer),
                      /*isMade=*/true))
    return {};
  int64_t most = getNumElements(x), rank = getRank(x),
          kept = std::min(size, most);
  Value rows =
      node.splat(node.getInt("fill_value", -1), integer, {size - kept, rank});
  if (kept == 0)
    return rows;
  Value isFound = node.createElementwise(
      "less", {node.constant(iota(kept)),
               node.castTo(node.slice(list, 0, 0, 1), integer)});
  Value positions = node.castTo(node.slice(list, 0, 1, kept), integer),
        fill = node.splat(node.getInt("fill_value", -1), integer);
  SmallVector<Value> columns;
  for (Value index : splitPositions(node, positions, getShape(x)))
    columns.push_back(node.reshape(
        node.createElementwise("select", {isFound, index, fill}), {kept, 1}));
  if (llvm::is_contained(columns, Value()))
    return {};
  Value found =
      columns.size() == 1
          ? columns[0]
          : node.create<nn::ConcatOp>(ValueRange(columns), int64_t(1));
  return kept == size
             ? found
             : node.create<nn::ConcatOp>(ValueRange{found, rows}, int64_t(0));
}

/// Converts nonzero_numpy and where with a condition alone: a list of indices
/// for each axis.
Value convertNonZeroLists(Node &node) {
  Value x = node.getTensor(node.has("condition") ? "condition" : "self");
  Value positions = x ? findPositions(node, x, 0, 0) : Value();
  if (!positions)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  if (shape.empty())
    shape.push_back(1);
  SmallVector<Value> indices = splitPositions(node, positions, shape);
  for (size_t i = 1; i < indices.size(); ++i)
    node.setResult(i, indices[i]);
  return indices[0];
}

Value convertMaskedSelect(Node &node) {
  Value x = node.getTensor("self"), mask = node.getTensor("mask");
  auto shape = nn::broadcastShapes({getShape(x), getShape(mask)});
  if (!x || !mask || !shape)
    return x && mask ? node.broken("has a mask that does not fit its operand")
                     : Value();
  SmallVector<int64_t> common(shape->begin(), shape->end());
  Value positions = findPositions(node, node.expand(mask, common), 0, 0);
  return node.create<nn::GatherOp>(
      node.reshape(node.expand(x, common), {product(common)}), positions,
      int64_t(0));
}

std::optional<Slices> readSlices(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return std::nullopt;
  Slices slices;
  slices.isOfSlices = node.has("dim");
  slices.shape.assign(getShape(x).begin(), getShape(x).end());
  if (!slices.isOfSlices)
    x = node.reshape(x, {getNumElements(x)});
  auto axis = node.getAxis("dim", getRank(x));
  if (!axis || !x || getRank(x) == 0) {
    if (axis && x)
      node.broken("needs an axis");
    return std::nullopt;
  }
  slices.axis = *axis;
  slices.rows = getShape(x)[*axis];
  if (slices.rows == 0) {
    node.unsupported("has no elements");
    return std::nullopt;
  }
  SmallVector<int64_t> order = iota(getRank(x));
  std::rotate(order.begin(), order.begin() + *axis, order.begin() + *axis + 1);
  slices.x = x;
  slices.matrix = node.reshape(node.transpose(x, order),
                               {slices.rows, getNumElements(x) / slices.rows});
  return slices;
}

/// Converts _unique2 and unique_dim: the distinct elements or slices, and on
/// request the number of each element among them and how often they occur.
Value convertUnique(Node &node) {
  auto slices = readSlices(node);
  if (!slices)
    return {};
  int64_t axis = slices->axis, rows = slices->rows;
  Value found = node.create<nn::DistinctOp>(slices->matrix, /*sorted=*/true);
  if (!found)
    return {};
  auto size = node.getImporter().addLength(node, 0, axis, rows,
                                           node.slice(found, 0, 0, 1));
  Value firsts = cutFound(node, found, 1, rows, size);
  if (node.getBool("return_inverse")) {
    Value inverse = node.slice(found, 0, 1 + rows, rows);
    node.setResult(
        1, slices->isOfSlices ? inverse : node.reshape(inverse, slices->shape));
  }
  if (node.getBool("return_counts"))
    node.setResult(2, cutFound(node, found, 1 + 2 * rows, rows, size));
  return node.create<nn::GatherOp>(slices->x, firsts, axis);
}

/// Converts torchvision's nms: the boxes that no box with a higher score covers
/// by more than a fraction.
Value convertNms(Node &node) {
  Value boxes = node.getTensor("dets"), scores = node.getTensor("scores");
  if (!boxes || !scores)
    return {};
  int64_t count = getNumElements(scores);
  if (getRank(boxes) != 2 || getShape(boxes)[0] != count ||
      getShape(boxes)[1] != 4 || getRank(scores) != 1)
    return node.broken("has boxes of shape " + toString(getShape(boxes)) +
                       " and scores of shape " + toString(getShape(scores)));
  Type real = getElement(boxes);
  Value found = node.create<nn::SuppressOp>(
      node.reshape(boxes, {1, count, 4}),
      node.reshape(node.castTo(scores, real), {1, 1, count}),
      node.constant(ArrayRef<int64_t>{count}),
      node.splat(node.getFloat("iou_threshold"), real, {1}),
      node.splat(-std::numeric_limits<double>::infinity(), real, {1}), count,
      /*centered=*/false);
  if (!found)
    return {};
  Value places = node.reshape(
      node.slice(node.reshape(node.slice(found, 0, 1, 3 * count), {count, 3}),
                 1, 2, 1),
      {count});
  return cutFound(node, places, 0, count,
                  node.getImporter().addLength(node, 0, 0, count,
                                               node.slice(found, 0, 0, 1)));
}

} // namespace nnc::torch
