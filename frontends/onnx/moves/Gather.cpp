//===- Gather.cpp - Elements picked by their indices ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

Value convertGather(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis || !checkIndices(node, indices, getShape(x)[*axis]))
    return {};
  // A negative index counts from the end of an axis whose size may be
  // data-dependent.
  LengthExpression size = node.getImporter().getLengths().describe(x, *axis),
                   index = node.readLength(1);
  if (size && !size.getConstant() && index.getConstant().value_or(0) < 0 &&
      getNumElements(indices) == 1 && !node.getImporter().isInBody())
    indices = node.reshape(
        node.castTo(node.build(node.getImporter().getLengths().combine(
                        LengthExpression::Kind::add, size, index)),
                    getElement(indices)),
        getShape(indices));
  return node.create<nn::GatherOp>(x, indices, *axis);
}

/// Converts GatherElements: a gather of the flattened x by positions.
Value convertGatherElements(Node &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  Value positions = locateElements(node, getShape(x), indices, *axis);
  return node.create<nn::GatherOp>(node.reshape(x, {getNumElements(x)}),
                                   positions, 0);
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
  SmallVector<int64_t> result(picked.drop_back());
  Value positions = locateSlices(node, axes, indices, batch);
  for (int64_t i = 0; i < batch; ++i)
    positions = node.createElementwise(
        "add",
        {positions, makeSteps(node, shape[i], getStride(axes, i), i, rank)});
  x = node.reshape(x, {product(axes), product(slice)});
  llvm::append_range(result, slice);
  return node.reshape(node.create<nn::GatherOp>(x, positions, 0), result);
}

/// Converts EyeLike: ones on a diagonal of a matrix of the operand's shape.
Value convertEyeLike(Node &node) {
  Value x = node.getOperand(0);
  if (getRank(x) != 2)
    return node.broken("needs a matrix, not a tensor of shape " +
                       toString(getShape(x)));
  Type type = node.getModelType(0);
  if (node.hasAttribute("dtype")) {
    type = getElementType(node.getBuilder().getContext(),
                          static_cast<int32_t>(node.getInt("dtype")));
    if (!type)
      return node.unsupported("gives elements of type " +
                              Twine(node.getInt("dtype")));
  }
  int64_t k = node.getInt("k");
  Value rows = makeSteps(node, getShape(x)[0], 1, 0, 2),
        columns = makeSteps(node, getShape(x)[1], 1, 1, 2);
  Value shifted = node.createElementwise(
      "add", {rows, node.splat(static_cast<double>(k), getElement(rows))});
  return node.castToModelType(
      node.createElementwise("equal", {shifted, columns}), type);
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
