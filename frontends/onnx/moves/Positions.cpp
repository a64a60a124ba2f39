//===- Positions.cpp - Positions in a flattened tensor --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

bool checkIndices(Node &node, Value indices, int64_t size) {
  if (auto known = readElements(indices))
    for (int64_t index : known->ints)
      if (index < -size || index >= size) {
        node.broken("picks element " + Twine(index) + " of " + Twine(size));
        return false;
      }
  return true;
}

int64_t getStride(ArrayRef<int64_t> shape, int64_t axis) {
  return product(shape.drop_front(axis + 1));
}

Value scaleIndices(Node &node, Value indices, int64_t size, int64_t stride) {
  Type type = node.getBuilder().getI64Type();
  indices = node.castTo(indices, type);
  Value wrapped =
      node.createElementwise("add", {indices, node.splat(size, type)});
  Value isNegative =
      node.createElementwise("less", {indices, node.splat(0, type)});
  indices = node.createElementwise("select", {isNegative, wrapped, indices});
  return node.createElementwise("mul", {indices, node.splat(stride, type)});
}

Value locateElements(Node &node, ArrayRef<int64_t> shape, Value indices,
                     int64_t axis) {
  ArrayRef<int64_t> picked = getShape(indices);
  if (!checkIndices(node, indices, shape[axis]))
    return {};
  bool fits = picked.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = picked[i] <= shape[i] || static_cast<int64_t>(i) == axis;
  if (!fits)
    return node.broken("has indices of shape " + toString(picked) +
                       " into a tensor of shape " + toString(shape));
  Value positions =
      scaleIndices(node, indices, shape[axis], getStride(shape, axis));
  for (size_t i = 0; i < shape.size(); ++i)
    if (static_cast<int64_t>(i) != axis && picked[i] != 1)
      positions = node.createElementwise(
          "add", {positions, makeSteps(node, picked[i], getStride(shape, i), i,
                                       shape.size())});
  return positions;
}

Value takeAlong(Node &node, Value x, int64_t axis, Value positions) {
  int64_t size = getShape(x)[axis];
  if (size == 0)
    return node.broken("takes elements along an axis that has none");
  Type type = node.getBuilder().getI64Type();
  positions = node.createElementwise("max", {positions, node.splat(0, type)});
  positions =
      node.createElementwise("min", {positions, node.splat(size - 1, type)});
  return node.create<nn::GatherOp>(x, positions, axis);
}

bool ByAxis::mayName(int64_t axis) const {
  auto known = readElements(axes);
  return !known || llvm::is_contained(known->ints, axis) ||
         llvm::is_contained(known->ints, axis - rank);
}

/// Returns a mask of the entries of the list that are equal to `axis`.
static Value findAxis(Node &node, const ByAxis &list, int64_t axis) {
  Type type = node.getBuilder().getI64Type();
  Value axes = node.castTo(list.axes, type);
  auto is = [&](int64_t number) {
    return node.createElementwise("equal", {axes, node.splat(number, type)});
  };
  return node.createElementwise("logical_or", {is(axis), is(axis - list.rank)});
}

static Value sum(Node &node, Value vector) {
  return node.create<nn::ReduceOp>(nn::ReduceKind::sum, vector,
                                   ArrayRef<int64_t>{0}, false);
}

Value ByAxis::names(Node &node, int64_t axis) const {
  Type type = node.getBuilder().getI64Type();
  Value count = sum(node, node.castTo(findAxis(node, *this, axis), type));
  return node.createElementwise("greater", {count, node.splat(0, type)});
}

Value ByAxis::get(Node &node, Value values, int64_t axis,
                  int64_t otherwise) const {
  Type type = node.getBuilder().getI64Type();
  auto number = [&](int64_t value) { return node.splat(value, type); };
  Value change = node.createElementwise(
      "sub", {node.castTo(values, type), number(otherwise)});
  change = node.createElementwise(
      "select", {findAxis(node, *this, axis), change, number(0)});
  return node.createElementwise("add", {sum(node, change), number(otherwise)});
}

Value computeAlongOperand(Node &node, size_t i, int64_t rank,
                          ArrayRef<int64_t> axes,
                          llvm::function_ref<Value(int64_t)> compute) {
  Value operand = node.getOperand(i);
  if (getNumElements(operand) != 1)
    return node.broken("needs one axis, not " + Twine(getNumElements(operand)));
  if (readElements(operand) || axes.empty() || axes.size() > kMaxComputedAxes) {
    auto known = node.getConstantInts(i, "axes");
    auto axis = known ? node.normalizeAxis((*known)[0], rank) : std::nullopt;
    return axis ? compute(*axis) : Value();
  }
  ByAxis given{node.reshape(operand, {1}), rank};
  Value result;
  for (int64_t axis : axes) {
    Value one = compute(axis);
    if (one && result && getShape(one) != getShape(result))
      return node.unsupported("needs an axis that is known when compiling, as "
                              "the result has another shape for each axis");
    result = axis == axes.front()
                 ? one
                 : node.createElementwise(
                       "select", {given.names(node, axis), one, result});
  }
  return result;
}

Value locateSlices(Node &node, ArrayRef<int64_t> axes, Value indices,
                   int64_t first) {
  ArrayRef<int64_t> picked = getShape(indices);
  int64_t depth = picked.back();
  SmallVector<int64_t> starts(picked.size(), 0), steps(picked.size(), 1),
      sizes(picked), result(picked.drop_back());
  sizes.back() = 1;
  Value positions;
  for (int64_t i = 0; i < depth; ++i) {
    starts.back() = i;
    Value index = depth == 1
                      ? indices
                      : node.create<nn::SliceOp>(indices, starts, sizes, steps);
    int64_t size = axes[first + i];
    if (!index || !checkIndices(node, index, size))
      return {};
    index = scaleIndices(node, node.reshape(index, result), size,
                         getStride(axes, first + i));
    positions =
        i == 0 ? index : node.createElementwise("add", {positions, index});
  }
  return positions;
}

} // namespace nnc::onnx
