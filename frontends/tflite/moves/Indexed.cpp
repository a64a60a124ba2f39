//===- Indexed.cpp - Operators with index operands ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/qnn/Quantized.h"

#include "dialects/nn/elementwise/Broadcast.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tflite {

/// Returns true if `indices` are integers; otherwise reports an error.
static bool areIndices(Layer &layer, Value indices) {
  Type element = getElement(indices);
  if (element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return true;
  layer.unsupported("has indices of type " + getTypeName(element) +
                    "; nnc handles INT32 and INT64");
  return false;
}

/// Returns true if an axis is short enough for a constant list of its indices;
/// otherwise reports an error.
static bool isShort(Layer &layer, int64_t size) {
  if (size <= 1 << 24)
    return true;
  layer.fail(ImportStatus::limit,
             "counts " + Twine(size) + " places; nnc handles 16777216");
  return false;
}

/// Returns a constant vector with the elements `values` of the type `element`.
static Value vectorOf(Layer &layer, ArrayRef<int64_t> values, Type element) {
  return layer.castTo(layer.constant(values), element);
}

/// Returns 0, 1, ... count - 1 of the type `element`, along axis `axis` of a
/// tensor of `rank` axes.
static Value makeCounts(Layer &layer, int64_t count, Type element, int64_t axis,
                        int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = count;
  return layer.reshape(vectorOf(layer, iota(count), element), shape);
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Gathers along `axis` of x. The first `batch` axes of x and of the indices
/// are batch axes.
static Value gatherInBatches(Layer &layer, Value x, Value indices, int64_t axis,
                             int64_t batch) {
  // The axis moves in front of those that do not belong to a batch.
  SmallVector<int64_t> order = iota(getRank(x));
  order.erase(order.begin() + axis);
  order.insert(order.begin() + batch, axis);
  x = layer.transpose(x, order);
  ArrayRef<int64_t> shape = getShape(x), picked = getShape(indices);
  SmallVector<int64_t> result(picked);
  llvm::append_range(result, shape.drop_front(batch + 1));
  int64_t batches = product(shape.take_front(batch)), size = shape[batch];
  Type element = getElement(indices);
  Value rows = layer.reshape(indices, {batches, product(picked) / batches});
  Value starts =
      layer.createElementwise("mul", {makeCounts(layer, batches, element, 0, 2),
                                      vectorOf(layer, {size}, element)});
  Value places = layer.createElementwise("add", {rows, starts});
  Value flat =
      layer.reshape(x, {batches * size, product(shape.drop_front(batch + 1))});
  Value y = layer.reshape(layer.create<nn::GatherOp>(flat, places, int64_t(0)),
                          result);
  // The indices' axes move to where the axis was.
  int64_t between = axis - batch, added = picked.size() - batch;
  SmallVector<int64_t> back = iota(batch);
  for (int64_t i = 0; i < between; ++i)
    back.push_back(batch + added + i);
  for (int64_t i = 0; i < added; ++i)
    back.push_back(batch + i);
  for (int64_t i = batch + added + between; i < int64_t(result.size()); ++i)
    back.push_back(i);
  return layer.transpose(y, back);
}

Value convertGather(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::GatherOptions>(fb::Options::Gather);
  Value x = layer.getInput(0), indices = layer.getInput(1);
  if (!options || !x || !indices || !areIndices(layer, indices))
    return {};
  auto axis = layer.normalizeAxis(options->axis(), getRank(x));
  if (!axis)
    return {};
  int64_t batch = options->batch_dims();
  if (batch == 0)
    return layer.create<nn::GatherOp>(x, indices, *axis);
  if (batch < 0)
    batch += getRank(indices);
  if (batch < 0 || batch > *axis || batch > getRank(indices) ||
      getShape(x).take_front(batch) != getShape(indices).take_front(batch) ||
      getNumElements(x) == 0 || getNumElements(indices) == 0)
    return layer.broken("has " + Twine(batch) +
                        " axes of batches, with a "
                        "tensor of shape " +
                        toString(getShape(x)) + " and indices of shape " +
                        toString(getShape(indices)));
  if (!isShort(layer, product(getShape(x).take_front(batch))))
    return {};
  return gatherInBatches(layer, x, indices, *axis, batch);
}

/// Converts GATHER_ND. The last axis of the indices holds the coordinates of a
/// slice of x.
Value convertGatherNd(Layer &layer) {
  Value x = layer.getInput(0), indices = layer.getInput(1);
  if (!x || !indices || !areIndices(layer, indices))
    return {};
  ArrayRef<int64_t> shape = getShape(x), picked = getShape(indices);
  int64_t depth = picked.empty() ? 0 : picked.back();
  if (depth < 1 || depth > getRank(x) || getNumElements(x) == 0)
    return layer.broken("has indices of shape " + toString(picked) +
                        " into a tensor of shape " + toString(shape));
  SmallVector<int64_t> strides;
  for (int64_t i = 0; i < depth; ++i)
    strides.push_back(product(shape.slice(i + 1, depth - i - 1)));
  Value places = layer.createElementwise(
      "mul", {indices, vectorOf(layer, strides, getElement(indices))});
  places = layer.create<nn::ReduceOp>(
      nn::ReduceKind::sum, places, SmallVector<int64_t>{getRank(indices) - 1},
      /*keepdims=*/false);
  Value flat = layer.reshape(
      x, {product(shape.take_front(depth)), product(shape.drop_front(depth))});
  SmallVector<int64_t> result(picked.drop_back());
  llvm::append_range(result, shape.drop_front(depth));
  return layer.reshape(layer.create<nn::GatherOp>(flat, places, int64_t(0)),
                       result);
}

/// Converts EMBEDDING_LOOKUP: selects rows of a table, which may hold quantized
/// integers for a result of floats.
Value convertEmbeddingLookup(Layer &layer) {
  Value ids = layer.getInput(0), table = layer.getInput(1);
  if (!ids || !table || !areIndices(layer, ids))
    return {};
  if (getRank(table) < 1)
    return layer.broken("needs a table with axes");
  Value rows = layer.create<nn::GatherOp>(table, ids, int64_t(0));
  Quantization quantization = layer.getInputQuantization(1);
  Type to = layer.getOutputElement();
  if (!rows || getElement(table) == to)
    return rows;
  if (!to.isF32() || !isQuantized(table, quantization) ||
      quantization.axis >= 0)
    return layer.unsupported("makes " + getTypeName(to) + " of " +
                             getTypeName(getElement(table)));
  return layer.createAs<qnn::DequantizeOp>(
      RankedTensorType::get(getShape(rows), to),
      asQuantized(layer, rows, quantization));
}

Value convertOneHot(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::OneHotOptions>(fb::Options::OneHot);
  Value indices = layer.getInput(0), on = layer.getInput(2),
        off = layer.getInput(3);
  auto depth = layer.readInts(layer.getInput(1), "a depth");
  if (!options || !indices || !on || !off || !depth ||
      !areIndices(layer, indices))
    return {};
  if (depth->size() != 1 || (*depth)[0] < 1 || (*depth)[0] > INT32_MAX ||
      getNumElements(on) != 1 || getNumElements(off) != 1)
    return layer.broken("needs one depth of 1 or more, and two numbers");
  int64_t rank = getRank(indices) + 1;
  auto axis = layer.normalizeAxis(options->axis(), rank);
  if (!axis || !isShort(layer, (*depth)[0]))
    return {};
  SmallVector<int64_t> shape(getShape(indices));
  shape.insert(shape.begin() + *axis, 1);
  Value isOn = layer.createElementwise(
      "equal",
      {layer.reshape(indices, shape),
       makeCounts(layer, (*depth)[0], getElement(indices), *axis, rank)});
  return layer.createElementwise(
      "select", {isOn, layer.reshape(on, {}), layer.reshape(off, {})});
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// Converts DYNAMIC_UPDATE_SLICE: replaces a part of the first operand by the
/// second. The third operand is the start, which is clamped so that the part
/// fits.
Value convertDynamicUpdateSlice(Layer &layer) {
  Value x = layer.getInput(0), update = layer.getInput(1),
        starts = layer.getInput(2);
  if (!x || !update || !starts || !areIndices(layer, starts))
    return {};
  int64_t rank = getRank(x);
  bool fits = getRank(update) == rank && getNumElements(starts) == rank;
  for (int64_t i = 0; fits && i < rank; ++i)
    fits = getShape(update)[i] <= getShape(x)[i] && getShape(update)[i] > 0;
  if (!fits)
    return layer.broken("puts a tensor of shape " + toString(getShape(update)) +
                        " into one of shape " + toString(getShape(x)) + " at " +
                        Twine(getNumElements(starts)) + " places");
  Type element = getElement(starts);
  auto number = [&](int64_t value) {
    return layer.reshape(vectorOf(layer, {value}, element), {});
  };
  Value isInside, y = update;
  starts = layer.reshape(starts, {rank});
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t size = getShape(x)[axis], own = getShape(update)[axis];
    if (size == own)
      continue;
    if (!isShort(layer, size))
      return {};
    Value start = layer.reshape(layer.slice(starts, {axis}, {1}), {});
    start = layer.createElementwise(
        "min", {layer.createElementwise("max", {start, number(0)}),
                number(size - own)});
    Value place = layer.createElementwise(
        "sub", {vectorOf(layer, iota(size), element), start});
    Value bounded = layer.createElementwise(
        "min",
        {layer.createElementwise("max", {place, number(0)}), number(own - 1)});
    y = layer.create<nn::GatherOp>(y, bounded, axis);
    SmallVector<int64_t> along(rank, 1);
    along[axis] = size;
    Value same = layer.reshape(
        layer.createElementwise("equal", {place, bounded}), along);
    isInside = isInside
                   ? layer.createElementwise("logical_and", {isInside, same})
                   : same;
  }
  return isInside ? layer.createElementwise("select", {isInside, y, x})
                  : update;
}

Value convertBroadcastArgs(Layer &layer) {
  auto a = layer.readInts(layer.getInput(0), "a shape"),
       b = layer.readInts(layer.getInput(1), "a shape");
  if (!a || !b)
    return {};
  auto shape = nn::broadcastShapes({*a, *b});
  if (!shape)
    return layer.broken("has shapes that do not broadcast: " + toString(*a) +
                        " and " + toString(*b));
  return vectorOf(layer, *shape, layer.getOutputElement());
}

/// Converts CUMSUM by log(n) steps, in each of which the number of summed
/// elements doubles.
Value convertCumsum(Layer &layer) {
  const auto *options =
      layer.getOptions<fb::CumsumOptions>(fb::Options::Cumsum);
  Value x = layer.getInput(0);
  auto axis = x ? layer.readAxis(1, getRank(x)) : std::nullopt;
  if (!options || !axis)
    return {};
  if (isQuantized(x, layer.getInputQuantization(0)))
    return layer.unsupported("adds quantized integers");
  int64_t size = getShape(x)[*axis], rank = getRank(x);
  auto shift = [&](Value y, int64_t count) -> Value {
    SmallVector<int64_t> pads(2 * rank, 0);
    pads[*axis] = options->reverse() ? -count : count;
    pads[rank + *axis] = -pads[*axis];
    return layer.create<nn::PadOp>(nn::PadMode::constant, y, pads,
                                   APFloat(0.0));
  };
  for (int64_t reach = 1; reach < size; reach *= 2)
    x = layer.createElementwise("add", {x, shift(x, reach)});
  return options->exclusive() && size > 0 ? shift(x, 1) : x;
}

} // namespace nnc::tflite
