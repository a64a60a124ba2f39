//===- Indexed.cpp - Gathers ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Positions.h"
#include "frontends/torch/lengths/Found.h"
#include "frontends/torch/moves/Indices.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

Value wrapIndices(Node &node, Value indices, int64_t size) {
  indices = node.castTo(indices, node.getBuilder().getI64Type());
  auto known = indices ? readElements(indices) : std::nullopt;
  if (known && llvm::all_of(known->ints, [](int64_t i) { return i >= 0; }))
    return indices;
  Type type = getElement(indices);
  if (!type)
    return {};
  return node.createElementwise(
      "select",
      {node.createElementwise("less", {indices, node.splat(0, type)}),
       node.createBinary("add", indices, static_cast<double>(size)), indices});
}

/// Returns false after an error if a constant index is out of range.
static bool checkRange(Node &node, Value indices, int64_t size) {
  auto known = indices ? readElements(indices) : std::nullopt;
  if (known)
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

Value locateElements(Node &node, ArrayRef<int64_t> shape, Value indices,
                     int64_t axis) {
  ArrayRef<int64_t> picked = getShape(indices);
  bool fits = indices && picked.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = picked[i] <= shape[i] || static_cast<int64_t>(i) == axis;
  if (!fits)
    return indices ? node.broken("has indices of shape " + toString(picked) +
                                 " into a tensor of shape " + toString(shape))
                   : Value();
  if (!checkRange(node, indices, shape[axis]))
    return {};
  Value positions =
      node.createBinary("mul", wrapIndices(node, indices, shape[axis]),
                        static_cast<double>(getStride(shape, axis)));
  for (size_t i = 0; i < shape.size(); ++i)
    if (static_cast<int64_t>(i) != axis && picked[i] != 1)
      positions = node.createElementwise(
          "add", {positions, makeSteps(node, picked[i], getStride(shape, i), i,
                                       shape.size())});
  return positions;
}

Value takeAlong(Node &node, Value x, Value indices, int64_t axis) {
  if (!x || !indices)
    return {};
  if (getRank(x) == 0 || getRank(indices) == 0) {
    // A scalar counts as a vector of one element.
    Value y = takeAlong(node, node.reshape(x, {getNumElements(x)}),
                        node.reshape(indices, {getNumElements(indices)}), 0);
    return y ? node.reshape(y, getShape(indices)) : y;
  }
  Value positions = locateElements(node, getShape(x), indices, axis);
  return node.create<nn::GatherOp>(node.reshape(x, {getNumElements(x)}),
                                   positions, int64_t(0));
}

Value convertGather(Node &node) {
  Value x = node.getTensor("self"), index = node.getTensor("index");
  auto axis = node.getAxis("dim", getRank(x));
  return axis ? takeAlong(node, x, index, *axis) : Value();
}

Value convertTakeAlongDim(Node &node) {
  Value x = node.getTensor("self"), index = node.getTensor("indices");
  if (!x || !index)
    return {};
  if (!node.has("dim"))
    return takeAlong(node, node.reshape(x, {getNumElements(x)}),
                     node.reshape(index, {getNumElements(index)}), 0);
  auto axis = node.getAxis("dim", getRank(x));
  if (!axis || getRank(x) != getRank(index))
    return axis ? node.broken("has operands of different ranks") : Value();
  // Both broadcast along the other axes.
  SmallVector<int64_t> shapeX(getShape(x)), shapeIndex(getShape(index));
  for (int64_t i = 0; i < getRank(x); ++i)
    if (i != *axis)
      shapeX[i] = shapeIndex[i] = std::max(shapeX[i], shapeIndex[i]);
  return takeAlong(node, node.expand(x, shapeX), node.expand(index, shapeIndex),
                   *axis);
}

Value convertIndexSelect(Node &node) {
  Value x = node.getTensor("self"), index = node.getTensor("index");
  auto axis = node.getAxis("dim", getRank(x) - node.isComplex("self"));
  if (!x || !index || !axis || getRank(x) == 0)
    return x && getRank(x) == 0 ? x : Value();
  if (!checkRange(node, index, getShape(x)[*axis]))
    return {};
  return node.create<nn::GatherOp>(
      x, node.reshape(index, {getNumElements(index)}), *axis);
}

Value convertTake(Node &node) {
  Value x = node.getTensor("self"), index = node.getTensor("index");
  if (!x || !checkRange(node, index, getNumElements(x)))
    return {};
  return node.create<nn::GatherOp>(node.reshape(x, {getNumElements(x)}), index,
                                   int64_t(0));
}

//===----------------------------------------------------------------------===//
// Lists of indices
//===----------------------------------------------------------------------===//

/// Returns the indices of the true elements of a mask of any rank, one vector
/// for each of its axes; nullopt after an error. `findTrue` returns their
/// positions in the flat mask if they depend on data.
static std::optional<SmallVector<Value>>
listTrue(Node &node, Value mask, llvm::function_ref<Value(Value)> findTrue) {
  auto known = readElements(mask);
  ArrayRef<int64_t> shape = getShape(mask);
  if (!known) {
    Value positions = findTrue(mask);
    if (!positions)
      return std::nullopt;
    return splitPositions(node, positions, shape);
  }
  SmallVector<SmallVector<int64_t>> lists(shape.size());
  for (auto [place, isTrue] : llvm::enumerate(known->ints)) {
    if (!isTrue)
      continue;
    int64_t rest = place;
    for (int64_t axis = shape.size(); axis-- > 0;) {
      lists[axis].push_back(rest % shape[axis]);
      rest /= shape[axis];
    }
  }
  SmallVector<Value> indices;
  for (ArrayRef<int64_t> list : lists)
    indices.push_back(node.constant(list));
  return indices;
}

std::optional<IndexList>
readIndices(Node &node, Value x, llvm::function_ref<Value(Value)> findTrue) {
  IndexList list;
  int64_t axis = 0;
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value index : node.getTensors("indices")) {
    SmallVector<Value> own = {index};
    if (index && (getElement(index).isInteger(1) ||
                  getElement(index).isUnsignedInteger(8))) {
      for (int64_t i = 0; i < getRank(index); ++i)
        if (axis + i >= getRank(x) ||
            getShape(index)[i] != getShape(x)[axis + i]) {
          node.broken("has a mask that does not fit its operand");
          return std::nullopt;
        }
      auto found = listTrue(node, index, findTrue);
      if (!found)
        return std::nullopt;
      own = *found;
    }
    for (Value one : own) {
      if (axis >= getRank(x)) {
        node.broken("has more indices than its operand has axes");
        return std::nullopt;
      }
      if (one) {
        if (!checkRange(node, one, getShape(x)[axis]))
          return std::nullopt;
        list.axes.push_back(axis);
        list.indices.push_back(one);
        shapes.push_back(getShape(one));
      }
      ++axis;
    }
  }
  if (node.hasFailed() || list.axes.empty()) {
    if (!node.hasFailed())
      node.broken("has no indices");
    return std::nullopt;
  }
  auto common = nn::broadcastShapes(shapes);
  if (!common) {
    node.broken("has indices whose shapes do not fit each other");
    return std::nullopt;
  }
  list.shape.assign(common->begin(), common->end());
  list.isTogether = list.axes.back() - list.axes.front() + 1 ==
                    static_cast<int64_t>(list.axes.size());
  return list;
}

Value IndexList::locate(Node &node, ArrayRef<int64_t> shapeOfX) const {
  Value positions;
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    int64_t size = shapeOfX[axes[i]];
    Value own = node.createBinary("mul", wrapIndices(node, indices[i], size),
                                  static_cast<double>(stride));
    positions =
        positions ? node.createElementwise("add", {positions, own}) : own;
    if (llvm::MulOverflow(stride, size, stride))
      return node.broken("indexes too many elements");
  }
  return positions ? node.expand(positions, shape) : Value();
}

/// Returns the elements of `x` that a list of indices picks, by one gather for
/// each index, if the indices vary along different axes of what they pick, as
/// rows and columns do. Each then consists of places along one axis, and not of
/// places in all of `x`, which depend on the sizes of its axes. Returns
/// nullopt for other indices.
static std::optional<Value> pickApart(Node &node, Value x,
                                      const IndexList &list) {
  const size_t rank = list.shape.size();
  // For each index, the axes of list.shape along which it varies.
  SmallVector<SmallVector<int64_t>> varying;
  SmallVector<bool> isTaken(rank, false);
  for (Value index : list.indices) {
    ArrayRef<int64_t> shape = getShape(index);
    auto &own = varying.emplace_back();
    for (size_t i = 0; i < shape.size(); ++i) {
      size_t axis = rank - shape.size() + i;
      if (shape[i] == 1)
        continue;
      if (isTaken[axis])
        return std::nullopt;
      isTaken[axis] = true;
      own.push_back(static_cast<int64_t>(axis));
    }
    if (own.empty())
      return std::nullopt;
  }
  // The axes of the gathered tensor: of x as -1 - axis, and of list.shape.
  SmallVector<int64_t> axes, order, shape;
  for (int64_t axis : iota(getRank(x)))
    axes.push_back(-1 - axis);
  Value y = x;
  for (size_t i = list.axes.size(); i-- > 0;) {
    SmallVector<int64_t> sizes;
    for (int64_t axis : varying[i])
      sizes.push_back(list.shape[axis]);
    y = takeIndices(node, y, node.reshape(list.indices[i], sizes),
                    list.axes[i]);
    if (!y)
      return Value();
    auto *place = axes.begin() + list.axes[i];
    axes.insert(axes.erase(place), varying[i].begin(), varying[i].end());
  }
  auto append = [&](int64_t axis, int64_t size) {
    shape.push_back(size);
    if (auto *place = llvm::find(axes, axis); place != axes.end())
      order.push_back(place - axes.begin());
  };
  int64_t first = list.isTogether ? list.axes[0] : 0;
  for (int64_t axis = 0; axis <= getRank(x); ++axis) {
    if (axis == first)
      for (size_t own = 0; own < rank; ++own)
        append(static_cast<int64_t>(own), list.shape[own]);
    if (axis < getRank(x) && !llvm::is_contained(list.axes, axis))
      append(-1 - axis, getShape(x)[axis]);
  }
  return node.reshape(node.transpose(y, order), shape);
}

Value convertIndex(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  // The axis of the result that counts the elements of a mask: that of the
  // first index, or the first one if axes between the indices are not indexed.
  SmallVector<Value> given = node.getTensors("indices");
  int64_t counted = 0;
  while (counted < static_cast<int64_t>(given.size()) && !given[counted])
    ++counted;
  bool isGap = false;
  for (size_t i = counted, end = 0; i < given.size(); ++i) {
    isGap |= given[i] && end != 0 && i != end;
    end = given[i] ? i + 1 : end;
  }
  auto list = readIndices(node, x, [&](Value mask) {
    return findPositions(node, mask, 0, isGap ? 0 : counted);
  });
  if (!list)
    return {};
  if (!list->shape.empty()) // the program may state no number for a known mask
    node.getImporter().bindKnown(node, 0, isGap ? 0 : counted, list->shape[0]);
  if (list->axes.size() == 1)
    return takeIndices(node, x, list->indices[0], list->axes[0]);
  if (auto picked = pickApart(node, x, *list))
    return *picked;
  // The indexed axes become one. If they are not neighbours, that is the first
  // one, as in NumPy.
  SmallVector<int64_t> shape(getShape(x)), order, merged;
  int64_t first = list->isTogether ? list->axes[0] : 0;
  int64_t count = 1;
  for (int64_t axis : list->axes)
    count *= shape[axis];
  for (int64_t axis : iota(shape.size()))
    if (!llvm::is_contained(list->axes, axis)) {
      order.push_back(axis);
      merged.push_back(shape[axis]);
    }
  order.insert(order.begin() + first, list->axes.begin(), list->axes.end());
  merged.insert(merged.begin() + first, count);
  return node.create<nn::GatherOp>(
      node.reshape(node.transpose(x, order), merged), list->locate(node, shape),
      first);
}

} // namespace nnc::torch
