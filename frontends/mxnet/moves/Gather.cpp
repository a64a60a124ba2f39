//===- Gather.cpp - Elements selected by indices --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

Value gatherElements(Layer &layer, Value x, Value indices, int64_t axis) {
  if (!x || !indices)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  int64_t rank = getRank(x);
  auto getStride = [&](int64_t i) {
    return product(ArrayRef(shape).drop_front(i + 1));
  };
  Value positions =
      layer.mul(indices, layer.splat(double(getStride(axis)), layer.getI64()));
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis && shape[i] != 1)
      positions = layer.add(positions,
                            makeSteps(layer, shape[i], getStride(i), i, rank));
  return layer.create<nn::GatherOp>(layer.reshape(x, {getNumElements(x)}),
                                    positions, 0);
}

Value bringIntoRange(Layer &layer, Value indices, int64_t size, bool wraps) {
  Type type = layer.getI64();
  if (size == 0)
    return layer.broken("picks elements along an axis that has none");
  indices = layer.castTo(indices, type);
  if (wraps)
    return layer.createElementwise("mod",
                                   {indices, layer.splat(double(size), type)});
  indices = layer.createElementwise("max", {indices, layer.splat(0, type)});
  return layer.createElementwise(
      "min", {indices, layer.splat(double(size - 1), type)});
}

/// Converts Embedding: rows of a matrix.
Value convertEmbedding(Layer &layer) {
  Value weight = layer.getInput(1);
  if (getRank(weight) != 2)
    return layer.broken("needs a matrix of weights, not a tensor of shape " +
                        toString(getShape(weight)));
  Value indices =
      bringIntoRange(layer, layer.getInput(0), getShape(weight)[0], false);
  return layer.create<nn::GatherOp>(weight, indices, 0);
}

/// Reads the attribute `mode`: whether indices out of range wrap around.
static bool wraps(Layer &layer) {
  return layer.getText("mode", "clip") == "wrap";
}

Value convertTake(Layer &layer) {
  Value x = layer.getInput(0);
  bool isNumpyFlat = layer.getOp().starts_with("_np") && !layer.has("axis");
  if (isNumpyFlat)
    x = layer.reshape(x, {getNumElements(x)});
  auto axis = layer.getAxis("axis", 0, getRank(x));
  if (!axis)
    return {};
  Value indices = bringIntoRange(layer, layer.getInput(1), getShape(x)[*axis],
                                 wraps(layer));
  return layer.create<nn::GatherOp>(x, indices, *axis);
}

/// Converts batch_take: element indices[i] of row i.
Value convertBatchTake(Layer &layer) {
  Value x = layer.getInput(0), indices = layer.getInput(1);
  if (getRank(x) != 2 || getNumElements(indices) != getShape(x)[0])
    return layer.broken("picks elements of a tensor of shape " +
                        toString(getShape(x)) + " by indices of shape " +
                        toString(getShape(indices)));
  SmallVector<int64_t> shape(getShape(indices));
  indices = bringIntoRange(layer, indices, getShape(x)[1], false);
  indices = layer.reshape(indices, {getShape(x)[0], 1});
  return layer.reshape(gatherElements(layer, x, indices, 1), shape);
}

/// Converts pick: one element along an axis for each index of the others.
Value convertPick(Layer &layer) {
  Value x = layer.getInput(0), indices = layer.getInput(1);
  if (!layer.has("axis") &&
      layer.getNode().attributes.count("axis")) // None: of all elements
    return layer.unsupported("picks elements of the flattened input");
  auto axis = layer.getAxis("axis", -1, getRank(x));
  if (!axis)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  int64_t size = shape[*axis];
  shape[*axis] = 1;
  if (getNumElements(indices) != product(shape))
    return layer.broken("has indices of shape " + toString(getShape(indices)) +
                        " into a tensor of shape " + toString(getShape(x)));
  indices =
      layer.reshape(bringIntoRange(layer, indices, size, wraps(layer)), shape);
  Value y = gatherElements(layer, x, indices, *axis);
  if (!layer.getBool("keepdims", false)) {
    shape.erase(shape.begin() + *axis);
    if (shape.empty())
      shape.push_back(1);
  }
  return layer.reshape(y, shape);
}

/// Converts gather_nd: the first axis of the indices holds coordinates of
/// slices of x.
Value convertGatherNd(Layer &layer) {
  Value x = layer.getInput(0), indices = layer.getInput(1);
  ArrayRef<int64_t> shape = getShape(x), picked = getShape(indices);
  int64_t depth = picked.empty() ? 0 : picked[0];
  if (depth < 1 || depth > getRank(x))
    return layer.broken("has indices of shape " + toString(picked) +
                        " into a tensor of shape " + toString(shape));
  ArrayRef<int64_t> axes = shape.take_front(depth),
                    slice = shape.drop_front(depth);
  SmallVector<int64_t> result(picked.drop_front());
  Value positions;
  for (int64_t i = 0; i < depth; ++i) {
    Value index = layer.reshape(layer.slice(indices, 0, i, 1), result);
    index = layer.castTo(index, layer.getI64());
    index = bringIntoRange(layer, index, axes[i], false);
    index =
        layer.mul(index, layer.splat(double(product(axes.drop_front(i + 1))),
                                     layer.getI64()));
    positions = i == 0 ? index : layer.add(positions, index);
  }
  llvm::append_range(result, slice);
  x = layer.reshape(x, {product(axes), product(slice)});
  return layer.reshape(layer.create<nn::GatherOp>(x, positions, 0), result);
}

Value convertOneHot(Layer &layer) {
  Value indices = layer.getInput(0);
  int64_t depth = layer.getInt("depth", 0);
  Type type = layer.getDtype("dtype", layer.getF32());
  if (depth < 1 || depth > kMaxDim)
    return layer.broken("has the depth " + Twine(depth));
  if (!type)
    return {};
  SmallVector<int64_t> shape(getShape(indices));
  shape.push_back(1);
  indices = layer.castTo(layer.reshape(indices, shape), layer.getI64());
  int64_t rank = shape.size();
  Value isOn = layer.createElementwise(
      "equal", {indices, makeSteps(layer, depth, 1, rank - 1, rank)});
  return layer.createElementwise(
      "select", {isOn, layer.splat(layer.getReal("on_value", 1), type),
                 layer.splat(layer.getReal("off_value", 0), type)});
}

/// Converts scatter_nd: zeros with slices at
/// places given by the first axis of the indices.
Value convertScatterNd(Layer &layer) {
  Value updates = layer.getInput(0), indices = layer.getInput(1);
  auto shape = layer.getInts("shape").value_or(SmallVector<int64_t>());
  ArrayRef<int64_t> picked = getShape(indices);
  int64_t depth = picked.empty() ? 0 : picked[0];
  bool isSound = depth >= 1 && depth <= int64_t(shape.size()) &&
                 llvm::all_of(shape, [](int64_t size) {
                   return size >= 1 && size <= kMaxDim;
                 });
  if (!isSound)
    return layer.broken("has indices of shape " + toString(picked) +
                        " into a tensor of shape " + toString(shape));
  ArrayRef<int64_t> axes = ArrayRef(shape).take_front(depth),
                    slice = ArrayRef(shape).drop_front(depth);
  auto type = RankedTensorType::get(shape, getElement(updates));
  if (!layer.checkSize(type, /*isMade=*/true))
    return {};
  int64_t count = product(picked.drop_front());
  Value positions;
  for (int64_t i = 0; i < depth; ++i) {
    Value index = layer.castTo(
        layer.reshape(layer.slice(indices, 0, i, 1), {count}), layer.getI64());
    index =
        layer.mul(index, layer.splat(double(product(axes.drop_front(i + 1))),
                                     layer.getI64()));
    positions = i == 0 ? index : layer.add(positions, index);
  }
  Value zeros =
      layer.splat(0, getElement(updates), {product(axes), product(slice)});
  Value y = layer.create<nn::ScatterOp>(
      nn::ScatterKind::replace, zeros, positions,
      layer.reshape(updates, {count, product(slice)}));
  return layer.reshape(y, shape);
}

} // namespace nnc::mxnet
