//===- Scatter.cpp - Scatters ---------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/lengths/Found.h"
#include "frontends/torch/moves/Indices.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

Value scatterFlat(Node &node, nn::ScatterKind kind, Value x, Value positions,
                  Value updates) {
  if (!x || !positions || !updates)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  int64_t count = getNumElements(positions);
  if (count == 0 && node.dropsEmpty(positions))
    return x;
  Type element = getElement(x);
  // Truth values are bytes meanwhile.
  Type stored = element.isInteger(1)
                    ? Type(node.getBuilder().getIntegerType(8, false))
                    : element;
  Value y = node.create<nn::ScatterOp>(
      kind, node.castTo(node.reshape(x, {getNumElements(x)}), stored),
      node.reshape(positions, {count}),
      node.castTo(
          node.reshape(node.expand(updates, getShape(positions)), {count}),
          stored));
  return node.reshape(node.castTo(y, element), shape);
}

static std::optional<nn::ScatterKind> parseKind(Node &node, StringRef name) {
  if (name.empty() || name == "replace")
    return nn::ScatterKind::replace;
  if (name == "add" || name == "sum" || name == "mean")
    return nn::ScatterKind::add;
  if (name == "multiply" || name == "prod")
    return nn::ScatterKind::mul;
  if (name == "amax")
    return nn::ScatterKind::max;
  if (name == "amin")
    return nn::ScatterKind::min;
  node.broken("has the reduction '" + name + "'");
  return std::nullopt;
}

/// Returns `value`, a number or tensor, as elements of x's type.
static Value getUpdates(Node &node, StringRef name, Value x) {
  return node.castTo(node.getOperand(name), getElement(x));
}

/// Returns the part of `source` that the shape of the indices selects.
static Value cutTo(Node &node, Value source, ArrayRef<int64_t> shape) {
  if (!source || getRank(source) == 0 || getShape(source) == shape)
    return source;
  if (getRank(source) != int64_t(shape.size()))
    return node.broken("has a source and indices of different ranks");
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (getShape(source)[axis] < size)
      return node.broken("has more indices than its source has elements");
    if (getShape(source)[axis] > size)
      source = node.slice(source, axis, 0, size);
    if (!source)
      return {};
  }
  return source;
}

/// Returns `x` after the updates at positions of the flat tensor have been
/// combined with its elements, by the reduction `name`. Unless `includes` is
/// set, elements that get updates are the reductions of these alone.
static Value reduceAt(Node &node, StringRef name, Value x, Value positions,
                      Value updates, bool includes) {
  auto kind = parseKind(node, name);
  if (!kind || !x || !positions || !updates)
    return {};
  auto count = [&](double first) {
    Value zeros = node.splat(first, getElement(x), getShape(x));
    return scatterFlat(node, nn::ScatterKind::add, zeros, positions,
                       node.splat(1, getElement(x)));
  };
  Value base = x;
  if (!includes) {
    // Elements that get updates begin with what changes nothing.
    double neutral = *kind == nn::ScatterKind::mul ? 1 : 0;
    Value isUpdated = node.createElementwise(
        "greater", {count(0), node.splat(0, getElement(x))});
    Value first = node.splat(neutral, getElement(x));
    if (*kind == nn::ScatterKind::max || *kind == nn::ScatterKind::min) {
      base = scatterFlat(node, nn::ScatterKind::replace, x, positions, updates);
      return scatterFlat(node, *kind, base, positions, updates);
    }
    base = node.createElementwise("select", {isUpdated, first, x});
  }
  Value y = scatterFlat(node, *kind, base, positions, updates);
  if (name != "mean")
    return y;
  Value counts = node.createBinary("max", count(includes ? 1 : 0), 1);
  return node.createElementwise("div", {y, counts});
}

/// Converts scatter, scatter_add and scatter_reduce.
Value convertScatter(Node &node) {
  Value x = node.getTensor("self"), index = node.getTensor("index");
  auto axis = node.getAxis("dim", getRank(x));
  StringRef name = node.getNnOp();
  if (node.has("reduce"))
    name = node.getString("reduce");
  if (!x || !index || !axis)
    return {};
  if (getRank(x) == 0)
    return node.unsupported("scatters into a scalar");
  Value updates = getUpdates(node, node.has("src") ? "src" : "value", x);
  updates = cutTo(node, updates, getShape(index));
  Value positions = locateElements(node, getShape(x), index, *axis);
  return reduceAt(node, name, x, positions, updates,
                  node.getBool("include_self", true));
}

/// Converts put: elements of the flat tensor are replaced or updated.
Value convertPut(Node &node) {
  Value x = node.getTensor("self"), index = node.getTensor("index"),
        values = node.getTensor("source");
  if (!x || !index || !values)
    return {};
  return scatterFlat(node,
                     node.getBool("accumulate") ? nn::ScatterKind::add
                                                : nn::ScatterKind::replace,
                     x, wrapIndices(node, index, getNumElements(x)),
                     node.reshape(values, getShape(index)));
}

/// Converts index_put: x[indices] = values or += values.
Value convertIndexPut(Node &node) {
  Value x = node.getTensor("self"), values = node.getTensor("values");
  if (!x || !values)
    return {};
  bool adds = node.getBool("accumulate");
  values = node.castTo(values, getElement(x));
  // A mask with one value, or one for each element of the axes behind the mask,
  // selects elementwise.
  SmallVector<Value> given = node.getTensors("indices");
  int64_t behind = given.size() == 1 ? getRank(x) - getRank(given[0]) : -1;
  bool isEqual = getNumElements(values) == 1 || getRank(values) <= behind ||
                 (getRank(values) == behind + 1 && getShape(values)[0] == 1 &&
                  !node.getImporter().findLength(
                      node.getScope(), node.getTensorName("values"), 0));
  if (given.size() == 1 && given[0] && getElement(given[0]).isInteger(1) &&
      isEqual && behind >= 0) {
    SmallVector<int64_t> shape(getShape(given[0])), ofValues(getShape(values));
    shape.append(getRank(x) - shape.size(), 1);
    if (getNumElements(values) == 1)
      ofValues.clear();
    else if (static_cast<int64_t>(ofValues.size()) > behind)
      ofValues.erase(ofValues.begin());
    Value value = node.reshape(values, ofValues);
    if (adds)
      value = node.createElementwise("add", {x, value});
    return node.createElementwise("select",
                                  {node.reshape(given[0], shape), value, x});
  }
  auto list = readIndices(node, x, [&](Value mask) {
    // The axis of the values that counts the elements of the mask.
    int64_t axis = 0;
    while (axis < static_cast<int64_t>(given.size()) && !given[axis])
      ++axis;
    axis = getRank(values) - (getRank(x) - getRank(mask) + 1 - axis);
    return findPositionsOf(node, mask, "values", axis);
  });
  if (!list)
    return {};
  // The indexed axes come first and become one.
  SmallVector<int64_t> shape(getShape(x)), order(list->axes), rest;
  int64_t count = 1;
  for (int64_t axis : list->axes)
    count *= shape[axis];
  for (int64_t axis : iota(shape.size()))
    if (!llvm::is_contained(list->axes, axis)) {
      order.push_back(axis);
      rest.push_back(shape[axis]);
    }
  SmallVector<int64_t> merged = {count}, ofValues(rest);
  merged.append(rest);
  int64_t first = list->isTogether ? list->axes[0] : 0;
  ofValues.insert(ofValues.begin() + first, list->shape.begin(),
                  list->shape.end());
  // The axes of the indices come first in the updates, too.
  values = node.expand(values, ofValues);
  SmallVector<int64_t> orderOfValues;
  int64_t indexRank = list->shape.size();
  for (int64_t i : iota(indexRank))
    orderOfValues.push_back(first + i);
  for (int64_t i : iota(ofValues.size()))
    if (i < first || i >= first + indexRank)
      orderOfValues.push_back(i);
  Value positions = list->locate(node, shape);
  if (!values || !positions)
    return {};
  if (getNumElements(positions) == 0 && node.dropsEmpty(positions))
    return x;
  Type element = getElement(x);
  Type stored = element.isInteger(1)
                    ? Type(node.getBuilder().getIntegerType(8, false))
                    : element;
  Value y = node.create<nn::ScatterOp>(
      adds ? nn::ScatterKind::add : nn::ScatterKind::replace,
      node.castTo(node.reshape(node.transpose(x, order), merged), stored),
      positions, node.castTo(node.transpose(values, orderOfValues), stored));
  SmallVector<int64_t> moved, back(order.size());
  for (int64_t axis : order)
    moved.push_back(shape[axis]);
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  return y ? node.transpose(node.reshape(node.castTo(y, element), moved), back)
           : y;
}

/// Converts index_add, index_copy, index_fill and index_reduce: slices of an
/// axis are updated at the places of a vector of indices.
Value convertIndexUpdate(Node &node) {
  Value x = node.getTensor("self"), index = node.getTensor("index");
  auto axis = node.getAxis("dim", getRank(x));
  if (!x || !index || !axis || getRank(x) == 0)
    return {};
  StringRef name =
      node.has("reduce") ? node.getString("reduce") : node.getNnOp();
  bool includes = node.getBool("include_self", true);
  auto kind = parseKind(node, name);
  Value updates = getUpdates(node, node.has("source") ? "source" : "value", x);
  if (!kind || !updates)
    return {};
  if (auto alpha = node.getScalar("alpha"))
    updates = node.createElementwise(
        "mul", {updates, node.makeScalar(*alpha, getElement(x))});
  SmallVector<int64_t> shape(getShape(x)), order = iota(getRank(x)), back;
  shape[*axis] = getNumElements(index);
  if (name == "mean" || !includes) {
    // The index of a slice is that of each of its elements.
    SmallVector<int64_t> line(shape.size(), 1);
    line[*axis] = shape[*axis];
    Value indices = node.expand(node.reshape(index, line), shape);
    return reduceAt(node, name, x,
                    locateElements(node, getShape(x), indices, *axis), updates,
                    includes);
  }
  order.erase(order.begin() + *axis);
  order.insert(order.begin(), *axis);
  back.resize(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  Value positions = wrapIndices(
      node, node.reshape(index, {getNumElements(index)}), getShape(x)[*axis]);
  updates = node.expand(updates, shape);
  if (!updates)
    return {};
  Value y =
      node.create<nn::ScatterOp>(*kind, node.transpose(x, order), positions,
                                 node.transpose(updates, order));
  return y ? node.transpose(y, back) : y;
}

} // namespace nnc::torch
