//===- Lengths.cpp - NonZero, Compress, Unique and NonMaxSuppression ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Operators whose results have data-dependent sizes. A routine finds a number
// of elements and writes this number in front of them; the result is the slice
// of the elements that were found (frontends/common/Lengths.h).
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Returns `count` elements of a list from `start` on.
static Value takePart(Node &node, Value list, int64_t start, int64_t count) {
  return node.create<nn::SliceOp>(list, ArrayRef<int64_t>{start},
                                  ArrayRef<int64_t>{count},
                                  ArrayRef<int64_t>{1});
}

/// Returns `x` in a type that all routines support and that preserves its
/// order.
static Value widen(Node &node, Value x) {
  Type type = getElement(x);
  bool isHalf =
      isa_and_nonnull<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  return isHalf ? node.castTo(x, node.getBuilder().getF32Type()) : x;
}

/// Returns the positions in the flat `x` of elements that are not zero.
static Value findPositions(Node &node, Value x) {
  int64_t count = getNumElements(x);
  if (count == 0 && (node.dropsEmpty(x) || !node.mayAddLength()))
    return node.alwaysEmpty({0}, node.getBuilder().getI64Type());
  if (auto known = readElements(x)) {
    SmallVector<int64_t> found;
    for (int64_t i = 0; i < count; ++i)
      if (known->isReal() ? known->reals[i] != 0 : known->ints[i] != 0)
        found.push_back(i);
    return node.constant(found);
  }
  Value found = node.create<nn::FindOp>(widen(node, x));
  if (!found)
    return {};
  const Lengths &lengths = node.getImporter().getLengths();
  LengthExpression all(1);
  for (int64_t axis = 0; axis < getRank(x); ++axis)
    all = lengths.combine(LengthExpression::Kind::mul, all,
                          lengths.describe(x, axis));
  auto size = node.addLength(count, takePart(node, found, 0, 1), {0}, all);
  return node.cut(takePart(node, found, 1, count), size);
}

/// Returns the axis whose slices the node selects, or nullopt after an error.
/// If the node has no axis, it selects elements, and `x` is flattened.
static std::optional<int64_t> getPickedAxis(Node &node, Value &x) {
  if (node.hasAttribute("axis"))
    return node.normalizeAxis(node.getInt("axis"), getRank(x));
  x = node.reshape(x, {getNumElements(x)});
  return 0;
}

/// Converts NonZero: for each axis the indices of the elements.
Value convertNonZero(Node &node) {
  Value x = node.getOperand(0), positions = findPositions(node, x);
  if (!positions)
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rank = getRank(x), found = getNumElements(positions);
  Type type = getElement(positions);
  if (getNumElements(x) == 0 && positions.getDefiningOp<nn::ConstantOp>())
    return node.alwaysEmpty({rank, 0}, type);
  if (rank == 0 || (found == 0 && node.dropsEmpty(positions)))
    return node.constant(DenseElementsAttr::get(
        RankedTensorType::get({rank, found}, type), ArrayRef<Attribute>()));
  positions = node.reshape(positions, {1, found});
  SmallVector<Value> rows;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value index = positions;
    if (int64_t stride = getStride(shape, axis); stride != 1)
      index = node.createElementwise("div", {index, node.splat(stride, type)});
    if (axis != 0)
      index =
          node.createElementwise("mod", {index, node.splat(shape[axis], type)});
    rows.push_back(index);
  }
  return rank == 1 ? rows[0]
                   : node.create<nn::ConcatOp>(ValueRange(rows), int64_t(0));
}

/// Converts Compress: the slices of an axis, or the elements, that a condition
/// picks.
Value convertCompress(Node &node) {
  Value x = node.getOperand(0), condition = node.getOperand(1);
  auto picked = getPickedAxis(node, x);
  if (!picked)
    return {};
  int64_t axis = *picked;
  int64_t size = getShape(x)[axis];
  // ONNX requires a vector here; onnxruntime accepts any shape and flattens it.
  condition = node.reshape(condition, {getNumElements(condition)});
  if (getNumElements(condition) > size) {
    if (auto known = readElements(condition))
      for (int64_t i = size; i < getNumElements(condition); ++i)
        if (known->ints[i] != 0)
          return node.broken("picks element " + Twine(i) + " of " +
                             Twine(size));
    condition = takePart(node, condition, 0, size);
  }
  return node.create<nn::GatherOp>(x, findPositions(node, condition), axis);
}

/// Converts Unique. The results are the distinct slices of an axis, or
/// elements; the index of the first occurrence of each; the index of the
/// distinct slice for each slice; and the number of slices equal to each.
Value convertUnique(Node &node) {
  Value x = node.getOperand(0);
  auto picked = getPickedAxis(node, x);
  if (!picked)
    return {};
  int64_t axis = *picked;
  int64_t rows = getShape(x)[axis];
  if (getNumElements(x) == 0 && (node.dropsEmpty(x) || !node.mayAddLength())) {
    for (size_t i = 1; i < node.getNumResults(); ++i)
      node.setResult(i, node.alwaysEmpty({0}, node.getBuilder().getI64Type()));
    return x;
  }
  // Slices of the axis as rows of a matrix.
  SmallVector<int64_t> order = {axis};
  int64_t columns = 1;
  for (int64_t i = 0; i < getRank(x); ++i)
    if (i != axis) {
      order.push_back(i);
      columns *= getShape(x)[i];
    }
  Value matrix =
      node.reshape(node.transpose(widen(node, x), order), {rows, columns});
  Value found =
      node.create<nn::DistinctOp>(matrix, node.getInt("sorted", 1) != 0);
  if (!found)
    return {};
  auto size = node.addLength(rows, takePart(node, found, 0, 1), {0, 1, 3},
                             node.getImporter().getLengths().describe(x, axis));
  Value firsts = node.cut(takePart(node, found, 1, rows), size);
  if (node.hasResult(1))
    node.setResult(1, firsts);
  if (node.hasResult(2))
    node.setResult(2, takePart(node, found, 1 + rows, rows));
  if (node.hasResult(3))
    node.setResult(3,
                   node.cut(takePart(node, found, 1 + 2 * rows, rows), size));
  return node.create<nn::GatherOp>(x, firsts, axis);
}

/// Converts NonMaxSuppression: triples (batch, class, box) of the selected
/// boxes.
Value convertNonMaxSuppression(Node &node) {
  Value boxes = node.getOperand(0), scores = node.getOperand(1);
  if (getRank(boxes) != 3 || getRank(scores) != 3)
    return node.broken("has boxes of shape " + toString(getShape(boxes)) +
                       " and scores of shape " + toString(getShape(scores)) +
                       "; both need three axes");
  int64_t lines = getShape(scores)[0] * getShape(scores)[1],
          most = getShape(boxes)[1];
  Type integer = node.getBuilder().getI64Type(), real = getElement(boxes);
  // If there is no limit, the default of ONNX is 0 boxes.
  Value limit =
      node.getOperand(2) ? node.getOperand(2) : node.splat(0, integer);
  if (auto known = readElements(limit); known && known->ints.size() == 1)
    most = std::clamp<int64_t>(known->ints[0], 0, most);
  auto getThreshold = [&](size_t i, double otherwise) {
    return node.getOperand(i) ? node.castTo(node.getOperand(i), real)
                              : node.splat(otherwise, real);
  };
  // If there is no threshold, every number is above it.
  Value overlap = getThreshold(3, 0),
        least = getThreshold(4, -std::numeric_limits<double>::infinity());
  int64_t count = lines * most;
  if (count == 0 && (node.dropsEmpty(boxes) || !node.mayAddLength()))
    return node.alwaysEmpty({0, 3}, integer);
  Value found =
      node.create<nn::SuppressOp>(boxes, scores, limit, overlap, least, most,
                                  node.getInt("center_point_box") != 0);
  if (!found)
    return {};
  auto size = node.addLength(count, takePart(node, found, 0, 1));
  return node.cut(node.reshape(takePart(node, found, 1, 3 * count), {count, 3}),
                  size);
}

} // namespace nnc::onnx
