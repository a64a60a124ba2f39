//===- Gather.cpp - Elements picked by their indices ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

/// Checks that constant indices are in the range of an axis of size `size`.
/// Reports an error and returns false if one is not.
static bool checkIndices(Node &node, Value indices, int64_t size) {
  if (auto known = readElements(indices))
    for (int64_t index : known->ints)
      if (index < -size || index >= size) {
        node.broken("picks element " + Twine(index) + " of " + Twine(size));
        return false;
      }
  return true;
}

Value convertGather(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis || !checkIndices(node, indices, getShape(x)[*axis]))
    return {};
  return node.create<nn::GatherOp>(x, indices, *axis);
}

/// Returns the row-major stride of `axis`, in elements.
static int64_t getStride(ArrayRef<int64_t> shape, int64_t axis) {
  return product(shape.drop_front(axis + 1));
}

/// Returns the indices of an axis of size `size` times `stride`, after adding
/// the size to negative ones.
static Value scaleIndices(Node &node, Value indices, int64_t size,
                          int64_t stride) {
  Type type = node.getBuilder().getI64Type();
  indices = node.castTo(indices, type);
  Value wrapped =
      node.createElementwise("add", {indices, node.splat(size, type)});
  Value isNegative =
      node.createElementwise("less", {indices, node.splat(0, type)});
  indices = node.createElementwise("select", {isNegative, wrapped, indices});
  return node.createElementwise("mul", {indices, node.splat(stride, type)});
}

/// Returns a constant of rank `rank` that holds 0, stride, 2 * stride, ...
/// along `axis`.
static Value makeSteps(Node &node, int64_t count, int64_t stride, int64_t axis,
                       int64_t rank) {
  if (count > 1 << 24)
    return node.fail(ImportStatus::limit,
                     "picks along an axis of " + Twine(count) + " elements");
  SmallVector<int64_t> values = iota(count), shape(rank, 1);
  for (int64_t &value : values)
    value *= stride;
  shape[axis] = count;
  return node.reshape(node.constant(values), shape);
}

/// Converts GatherElements: along `axis` the indices select the element, and
/// along the other axes it is the one at the same position. This becomes a
/// gather of the flattened x by positions.
Value convertGatherElements(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  ArrayRef<int64_t> shape = getShape(x), picked = getShape(indices);
  auto axis = node.normalizeAxis(node.getInt("axis"), shape.size());
  if (!axis || !checkIndices(node, indices, shape[*axis]))
    return {};
  bool fits = picked.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = picked[i] <= shape[i] || static_cast<int64_t>(i) == *axis;
  if (!fits)
    return node.broken("has indices of shape " + toString(picked) +
                       " into a tensor of shape " + toString(shape));
  Value positions =
      scaleIndices(node, indices, shape[*axis], getStride(shape, *axis));
  for (size_t i = 0; i < shape.size(); ++i)
    if (static_cast<int64_t>(i) != *axis && picked[i] != 1)
      positions = node.createElementwise(
          "add", {positions, makeSteps(node, picked[i], getStride(shape, i), i,
                                       shape.size())});
  x = node.reshape(x, {getNumElements(x)});
  return node.create<nn::GatherOp>(x, positions, 0);
}

/// Converts GatherND: the last axis of the indices holds coordinates of slices
/// of x. This becomes a gather of slices by their positions.
Value convertGatherND(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  ArrayRef<int64_t> shape = getShape(x), picked = getShape(indices);
  int64_t batch = node.getInt("batch_dims"), rank = picked.size() - 1;
  int64_t depth = picked.empty() ? 0 : picked.back();
  bool fits = batch >= 0 && batch <= rank && depth >= 1 &&
              batch + depth <= getRank(x) &&
              picked.take_front(batch) == shape.take_front(batch);
  if (!fits)
    return node.broken("has indices of shape " + toString(picked) +
                       " into a tensor of shape " + toString(shape) + " with " +
                       Twine(batch) + " axes of batch");
  ArrayRef<int64_t> axes = shape.take_front(batch + depth),
                    slice = shape.drop_front(batch + depth);
  SmallVector<int64_t> starts(rank + 1, 0), steps(rank + 1, 1), sizes(picked),
      result(picked.drop_back());
  sizes.back() = 1;
  Value positions;
  for (int64_t i = 0; i < depth; ++i) {
    starts.back() = i;
    Value index = depth == 1
                      ? indices
                      : node.create<nn::SliceOp>(indices, starts, sizes, steps);
    int64_t size = shape[batch + i];
    if (!index || !checkIndices(node, index, size))
      return {};
    index = scaleIndices(node, node.reshape(index, result), size,
                         getStride(axes, batch + i));
    positions =
        i == 0 ? index : node.createElementwise("add", {positions, index});
  }
  for (int64_t i = 0; i < batch; ++i)
    positions = node.createElementwise(
        "add",
        {positions, makeSteps(node, shape[i], getStride(axes, i), i, rank)});
  x = node.reshape(x, {product(axes), product(slice)});
  llvm::append_range(result, slice);
  return node.reshape(node.create<nn::GatherOp>(x, positions, 0), result);
}

/// Converts OneHot: a new axis holds the value `on` at the index and `off`
/// elsewhere.
Value convertOneHot(Node &node) {
  Value indices = node.getOperand(0), values = node.getOperand(2);
  auto depth = node.getConstantReals(1, "depths");
  if (!depth)
    return {};
  if (depth->size() != 1 || !((*depth)[0] >= 1) || !((*depth)[0] <= kMaxDim))
    return node.broken("needs one depth of 1 or more");
  if (getShape(values) != ArrayRef<int64_t>(2))
    return node.broken("needs two values, not a tensor of shape " +
                       toString(getShape(values)));
  auto size = static_cast<int64_t>((*depth)[0]);
  int64_t rank = getRank(indices) + 1;
  auto axis = node.normalizeAxis(node.getInt("axis"), rank);
  if (!axis)
    return {};
  SmallVector<int64_t> shape(getShape(indices));
  shape.insert(shape.begin() + *axis, 1);
  indices = node.reshape(scaleIndices(node, indices, size, 1), shape);
  Value isOn = node.createElementwise(
      "equal", {indices, makeSteps(node, size, 1, *axis, rank)});
  auto pick = [&](int64_t i) {
    SmallVector<int64_t> start = {i}, one = {1};
    return node.reshape(node.create<nn::SliceOp>(values, start, one, one), {});
  };
  return node.createElementwise("select", {isOn, pick(1), pick(0)});
}

} // namespace nnc::onnx
