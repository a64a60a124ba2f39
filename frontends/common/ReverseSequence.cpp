//===- ReverseSequence.cpp - Reversal of sequences of given lengths -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ReverseSequence.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// Checks that lengths that are known at compile time do not exceed the axis;
/// returns false after an error.
static bool checkLengths(LayerBuilder &layer, Value lengths, int64_t steps) {
  if (auto known = readElements(lengths))
    for (int64_t length : known->ints)
      if (length < 0 || length > steps) {
        layer.broken("reverses " + Twine(length) + " elements of an axis of " +
                     Twine(steps));
        return false;
      }
  return true;
}

/// Returns the i32 numbers 0, stride, 2 * stride, ... in the given shape.
static Value countBy(LayerBuilder &layer, int64_t stride,
                     ArrayRef<int64_t> shape) {
  SmallVector<int32_t> values;
  for (int64_t i = 0, count = product(shape); i < count; ++i)
    values.push_back(static_cast<int32_t>(i * stride));
  auto type = RankedTensorType::get(shape, layer.getBuilder().getI32Type());
  return layer.constant(DenseElementsAttr::get(type, ArrayRef(values)));
}

/// Returns, for each pair of batch and time, the flat index of the pair whose
/// element moves there.
static Value makeIndices(LayerBuilder &layer, Value lengths, int64_t batches,
                         int64_t steps) {
  Type i32 = layer.getBuilder().getI32Type();
  auto op = [&](StringRef name, std::initializer_list<Value> operands) {
    return layer.createElementwise(name, operands);
  };
  Value length = op("max", {lengths, layer.splat(0.0, getElement(lengths))});
  length = op("min", {length, layer.splat(double(steps), getElement(lengths))});
  length = layer.reshape(layer.castTo(length, i32), {batches, 1});
  Value time = countBy(layer, 1, {1, steps});
  Value last = op("sub", {length, layer.splat(1.0, i32)});
  Value from =
      op("select", {op("less", {time, length}), op("sub", {last, time}), time});
  return op("add", {from, countBy(layer, steps, {batches, 1})});
}

Value nnc::frontends::reverseSequence(LayerBuilder &layer, Value x,
                                      Value lengths, int64_t time,
                                      int64_t batch) {
  if (!x || !lengths)
    return {};
  int64_t rank = getRank(x);
  auto first = layer.normalizeAxis(batch, rank),
       second = layer.normalizeAxis(time, rank);
  if (!first || !second)
    return {};
  if (*first == *second)
    return layer.broken("has axis " + Twine(*first) +
                        " for both batch and time");
  SmallVector<int64_t> shape(getShape(x));
  int64_t batches = shape[*first], steps = shape[*second];
  if (getShape(lengths) != ArrayRef<int64_t>{batches})
    return layer.broken("has lengths of shape " + toString(getShape(lengths)) +
                        " for " + Twine(batches) + " sequences");
  if (!checkLengths(layer, lengths, steps))
    return {};
  if (product(shape) == 0)
    return x;
  // Batch and time become the first axis.
  SmallVector<int64_t> order = {*first, *second}, moved, joined;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != *first && axis != *second)
      order.push_back(axis);
  for (int64_t axis : order)
    moved.push_back(shape[axis]);
  joined = {batches * steps};
  llvm::append_range(joined, ArrayRef(moved).drop_front(2));
  Value rows = layer.reshape(layer.transpose(x, order), joined);
  Value picked = layer.create<nn::GatherOp>(
      rows, makeIndices(layer, lengths, batches, steps), int64_t(0));
  return layer.transpose(picked, invertPermutationVector(order));
}
