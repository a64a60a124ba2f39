//===- Indexed.cpp - Operators with index operands ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/lengths/Lengths.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

bool areIndices(Layer &layer, Value indices) {
  Type element = getElement(indices);
  if (element &&
      (element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return true;
  if (element)
    layer.unsupported("has indices of type " + getTypeName(element) +
                      "; nnc handles int32 and int64");
  return false;
}

Value makeCounts(Layer &layer, int64_t count, Type element, int64_t axis,
                 int64_t rank) {
  if (count > 1 << 24)
    return layer.fail(ImportStatus::limit, "counts " + Twine(count) +
                                               " places; nnc handles 16777216");
  Sizes shape(rank, 1);
  if (rank > 0)
    shape[axis] = count;
  return layer.reshape(layer.vectorOf(iota(count), element), shape);
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Gathers along `axis` of x. The first `batch` axes of x and of the indices
/// are batch axes: they and the axis become one, and the indices of each batch
/// are moved to where the batch begins.
static Value gatherInBatches(Layer &layer, Value x, Value indices, int64_t axis,
                             int64_t batch) {
  Sizes order = iota(getRank(x));
  order.erase(order.begin() + axis);
  order.insert(order.begin() + batch, axis);
  Value moved = layer.transpose(x, order);
  if (!moved)
    return {};
  Sizes shape(getShape(moved)), picked(getShape(indices));
  int64_t size = shape[batch],
          batches = product(ArrayRef<int64_t>(shape).take_front(batch));
  Sizes flat = {batches * size};
  flat.append(shape.begin() + batch + 1, shape.end());
  Value first = layer.castTo(
      makeCounts(layer, batches, layer.getBuilder().getI64Type(), 0, 1),
      getElement(indices));
  first = layer.createElementwise(
      "mul", {first, layer.splat(double(size), getElement(indices))});
  Sizes along(picked.size(), 1);
  llvm::copy(ArrayRef<int64_t>(picked).take_front(batch), along.begin());
  Value places =
      layer.createElementwise("add", {indices, layer.reshape(first, along)});
  Value y = layer.create<nn::GatherOp>(layer.reshape(moved, flat), places,
                                       int64_t(0));
  // The axes of the indices that are no batch move to where the axis was.
  int64_t between = axis - batch, added = int64_t(picked.size()) - batch;
  Sizes back = iota(batch);
  for (int64_t i = 0; i < between; ++i)
    back.push_back(batch + added + i);
  for (int64_t i = 0; i < added; ++i)
    back.push_back(batch + i);
  for (int64_t i = batch + added + between; i < getRank(y); ++i)
    back.push_back(i);
  return layer.transpose(y, back);
}

/// Returns the slices of `x` along `axis` at `indices`.
static Value gather(Layer &layer, Value x, Value indices, int64_t axis,
                    int64_t batch) {
  if (!x || !indices || !areIndices(layer, indices))
    return {};
  auto normal = layer.normalizeAxis(axis, getRank(x));
  if (!normal)
    return {};
  if (batch < 0)
    batch += getRank(indices);
  if (batch == 0)
    return layer.create<nn::GatherOp>(x, indices, *normal);
  if (batch < 0 || batch > *normal || batch > getRank(indices) ||
      getShape(x).take_front(batch) != getShape(indices).take_front(batch) ||
      getNumElements(x) == 0 || getNumElements(indices) == 0)
    return layer.broken("has " + Twine(batch) +
                        " axes of batches, with a tensor of shape " +
                        toString(getShape(x)) + " and indices of shape " +
                        toString(getShape(indices)));
  return gatherInBatches(layer, x, indices, *normal, batch);
}

Value convertGather(Layer &layer) {
  int64_t axis = 0;
  if (layer.getNumInputs() > 2) {
    auto given = layer.readInts(layer.getInput(2), "an axis");
    if (!given)
      return {};
    if (given->size() != 1)
      return layer.broken("needs one axis");
    axis = (*given)[0];
  }
  return gather(layer, layer.getInput(0), layer.getInput(1), axis,
                layer.getInt("batch_dims"));
}

Value convertResourceGather(Layer &layer) {
  if (layer.getPassed(0).kind != Passed::variable)
    return layer.broken("needs a variable");
  return gather(layer,
                layer.getImporter().readVariable(layer.getPassed(0).name),
                layer.getInput(1), layer.getInt("batch_dims"),
                layer.getInt("batch_dims"));
}

/// Returns the positions in `shape`, flattened along as many axes as the last
/// axis of `indices` is long, of the places that its rows name.
static Value flattenPlaces(Layer &layer, Value indices,
                           ArrayRef<int64_t> shape) {
  int64_t depth = getShape(indices).back();
  Sizes strides;
  for (int64_t i = 0; i < depth; ++i)
    strides.push_back(product(shape.slice(i + 1, depth - i - 1)));
  Value places = layer.createElementwise(
      "mul", {indices, layer.vectorOf(strides, getElement(indices))});
  return layer.create<nn::ReduceOp>(nn::ReduceKind::sum, places,
                                    ArrayRef<int64_t>{getRank(indices) - 1},
                                    /*keepdims=*/false);
}

/// Returns true if the rows of `indices` name places in `shape`; otherwise
/// reports an error.
static bool fitPlaces(Layer &layer, Value indices, ArrayRef<int64_t> shape) {
  if (!areIndices(layer, indices))
    return false;
  int64_t depth = getRank(indices) ? getShape(indices).back() : 0;
  if (depth >= 1 && depth <= int64_t(shape.size()) && product(shape) > 0)
    return true;
  layer.broken("has indices of shape " + toString(getShape(indices)) +
               " into a tensor of shape " + toString(shape));
  return false;
}

Value convertGatherNd(Layer &layer) {
  Value x = layer.getInput(0), indices = layer.getInput(1);
  if (!x || !indices || !fitPlaces(layer, indices, getShape(x)))
    return {};
  if (layer.getInt("batch_dims") != 0)
    return layer.unsupported("has batch_dims other than 0");
  ArrayRef<int64_t> shape = getShape(x), picked = getShape(indices);
  int64_t depth = picked.back();
  Value flat = layer.reshape(
      x, {product(shape.take_front(depth)), product(shape.drop_front(depth))});
  Sizes result(picked.drop_back());
  llvm::append_range(result, shape.drop_front(depth));
  return layer.reshape(
      layer.create<nn::GatherOp>(flat, flattenPlaces(layer, indices, shape),
                                 int64_t(0)),
      result);
}

Value takeAt(Layer &layer, Value x, Value begin, ArrayRef<int64_t> sizes) {
  int64_t rank = getRank(x);
  if (!areIndices(layer, begin) || getNumElements(begin) != rank ||
      int64_t(sizes.size()) != rank)
    return layer.broken("has " + Twine(getNumElements(begin)) + " starts for " +
                        Twine(rank) + " axes");
  Type element = getElement(begin);
  begin = layer.reshape(begin, {rank});
  for (int64_t axis = 0; axis < rank && x; ++axis) {
    int64_t whole = getShape(x)[axis], size = sizes[axis];
    if (size == whole)
      continue;
    if (size < 1 || size > whole)
      return layer.unsupported("takes " + Twine(size) +
                               " elements of an axis of " + Twine(whole) +
                               " from a start on that the network computes");
    Value start = layer.reshape(layer.slice(begin, {axis}, {1}), {});
    start = layer.createElementwise(
        "min",
        {layer.createElementwise("max", {start, layer.splat(0, element)}),
         layer.splat(double(whole - size), element)});
    Value places = layer.createElementwise(
        "add", {makeCounts(layer, size, element, 0, 1), start});
    x = layer.create<nn::GatherOp>(x, places, axis);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

Value scatterAt(Layer &layer, nn::ScatterKind kind, Value x, Value indices,
                Value updates) {
  if (!x || !indices || !updates || !fitPlaces(layer, indices, getShape(x)))
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  int64_t depth = getShape(indices).back();
  int64_t places = product(getShape(indices).drop_back()),
          size = product(shape.drop_front(depth));
  if (getNumElements(updates) != places * size)
    return layer.broken("has updates of shape " + toString(getShape(updates)) +
                        " for " + Twine(places) + " slices of " + Twine(size) +
                        " elements");
  Value flat = layer.reshape(x, {product(shape.take_front(depth)), size});
  Value positions = layer.castTo(
      layer.reshape(flattenPlaces(layer, indices, shape), {places}),
      layer.getBuilder().getI64Type());
  return layer.reshape(
      layer.create<nn::ScatterOp>(kind, flat, positions,
                                  layer.reshape(updates, {places, size})),
      shape);
}

static Value scatterInputs(Layer &layer, nn::ScatterKind kind) {
  return scatterAt(layer, kind, layer.getInput(0), layer.getInput(1),
                   layer.getInput(2));
}

Value convertTensorScatterAdd(Layer &layer) {
  return scatterInputs(layer, nn::ScatterKind::add);
}
Value convertTensorScatterMax(Layer &layer) {
  return scatterInputs(layer, nn::ScatterKind::max);
}
Value convertTensorScatterMin(Layer &layer) {
  return scatterInputs(layer, nn::ScatterKind::min);
}
Value convertTensorScatterSub(Layer &layer) {
  Value updates = layer.createElementwise("neg", {layer.getInput(2)});
  return scatterAt(layer, nn::ScatterKind::add, layer.getInput(0),
                   layer.getInput(1), updates);
}
Value convertTensorScatterUpdate(Layer &layer) {
  return scatterInputs(layer, nn::ScatterKind::replace);
}

/// Converts ScatterNd: updates added to zeros.
Value convertScatterNd(Layer &layer) {
  Value indices = layer.getInput(0), updates = layer.getInput(1);
  auto shape = layer.readInts(layer.getInput(2), "a shape");
  if (!indices || !updates || !shape)
    return {};
  if (llvm::any_of(*shape,
                   [](int64_t size) { return size < 0 || size > kMaxDim; }))
    return layer.broken("has a result of shape " + toString(*shape));
  return scatterAt(layer, nn::ScatterKind::add,
                   layer.splat(0.0, getElement(updates), *shape), indices,
                   updates);
}

/// Converts SparseToDense: a tensor of the default with values at some places.
Value convertSparseToDense(Layer &layer) {
  Value indices = layer.getInput(0), values = layer.getInput(2),
        filling = layer.getInput(3);
  auto decoded = getDecodedShape(layer.getInput(1));
  auto shape = decoded
                   ? std::optional<Sizes>({decoded->rows, decoded->mostColumns})
                   : layer.readInts(layer.getInput(1), "a shape");
  if (!indices || !values || !filling || !shape)
    return {};
  if (shape->empty() || getNumElements(filling) != 1 ||
      llvm::any_of(*shape,
                   [](int64_t size) { return size < 0 || size > kMaxDim; }))
    return layer.broken("has a result of shape " + toString(*shape));
  int64_t depth = int64_t(shape->size()),
          places = getRank(indices) == 0 ? 1 : getShape(indices)[0];
  if (getNumElements(indices) != places * depth)
    return layer.broken("has indices of shape " + toString(getShape(indices)) +
                        " into a tensor of shape " + toString(*shape));
  if (!layer.checkSize(RankedTensorType::get(*shape, getElement(values))))
    return {};
  Value y = scatterAt(layer, nn::ScatterKind::replace,
                      layer.expand(layer.reshape(filling, {}), *shape),
                      layer.reshape(indices, {places, depth}),
                      layer.expand(values, {places}));
  return decoded ? cutColumns(layer, y, *decoded) : y;
}

/// Converts SparseTensorDenseMatMul: the rows of a dense matrix at the columns
/// of the sparse elements, times these, added at the rows of the elements.
Value convertSparseMatMul(Layer &layer) {
  Value indices = layer.getInput(0), values = layer.getInput(1),
        dense = layer.getInput(3);
  auto shape = layer.readInts(layer.getInput(2), "a shape");
  if (!indices || !values || !dense || !shape || !areIndices(layer, indices))
    return {};
  if (layer.getBool("adjoint_b") && getRank(dense) == 2)
    dense = layer.transpose(dense, {1, 0});
  int64_t row = layer.getBool("adjoint_a") ? 1 : 0;
  if (shape->size() != 2 || getRank(dense) != 2 || getRank(values) != 1 ||
      (*shape)[1 - row] != getShape(dense)[0] || (*shape)[row] < 1 ||
      (*shape)[row] > kMaxDim ||
      getShape(indices) != ArrayRef<int64_t>{getShape(values)[0], 2})
    return layer.broken("multiplies a sparse matrix of shape " +
                        toString(*shape) + " with one of shape " +
                        toString(getShape(dense)));
  int64_t count = getShape(values)[0];
  auto column = [&](int64_t i) {
    return layer.slice(indices, {0, i}, {count, 1});
  };
  Value taken = layer.create<nn::GatherOp>(
      dense, layer.reshape(column(1 - row), {count}), int64_t(0));
  Value products = layer.createElementwise(
      "mul", {taken, layer.reshape(values, {count, 1})});
  return scatterAt(
      layer, nn::ScatterKind::add,
      layer.splat(0.0, getElement(dense), {(*shape)[row], getShape(dense)[1]}),
      column(row), products);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Value convertOneHot(Layer &layer) {
  Value indices = layer.getInput(0), on = layer.getInput(2),
        off = layer.getInput(3);
  auto depth = layer.readInts(layer.getInput(1), "a depth");
  if (!indices || !on || !off || !depth || !areIndices(layer, indices))
    return {};
  if (depth->size() != 1 || (*depth)[0] < 1 || getNumElements(on) != 1 ||
      getNumElements(off) != 1)
    return layer.broken("needs one depth of 1 or more, and two numbers");
  int64_t rank = getRank(indices) + 1;
  auto axis = layer.normalizeAxis(layer.getInt("axis", -1), rank);
  if (!axis)
    return {};
  Sizes shape(getShape(indices));
  shape.insert(shape.begin() + *axis, 1);
  Value isOn = layer.createElementwise(
      "equal",
      {layer.reshape(indices, shape),
       makeCounts(layer, (*depth)[0], getElement(indices), *axis, rank)});
  return layer.createElementwise(
      "select", {isOn, layer.reshape(on, {}), layer.reshape(off, {})});
}

/// Converts MatrixBandPart: the elements of each matrix that are at most so far
/// below and above its diagonal. Negative numbers stand for all.
Value convertMatrixBandPart(Layer &layer) {
  Value x = layer.getInput(0);
  auto lower = layer.readInts(layer.getInput(1), "a number of diagonals"),
       upper = layer.readInts(layer.getInput(2), "a number of diagonals");
  if (!x || !lower || !upper)
    return {};
  if (getRank(x) < 2 || lower->size() != 1 || upper->size() != 1)
    return layer.broken("needs matrices and two numbers");
  Type element = layer.getBuilder().getI32Type();
  Value rows = makeCounts(layer, getShape(x)[getRank(x) - 2], element, 0, 2),
        columns = makeCounts(layer, getShape(x).back(), element, 1, 2);
  Value below = layer.createElementwise("sub", {rows, columns}), isIn;
  auto keep = [&](StringRef compare, int64_t bound) {
    Value holds = layer.createElementwise(
        compare, {below, layer.splat(double(bound), element)});
    isIn = isIn ? layer.createElementwise("logical_and", {isIn, holds}) : holds;
  };
  if ((*lower)[0] >= 0)
    keep("less_equal", std::min<int64_t>((*lower)[0], kMaxDim));
  if ((*upper)[0] >= 0)
    keep("greater_equal", -std::min<int64_t>((*upper)[0], kMaxDim));
  return isIn ? layer.createElementwise(
                    "select", {isIn, x, layer.splat(0.0, getElement(x))})
              : x;
}

} // namespace nnc::tensorflow
