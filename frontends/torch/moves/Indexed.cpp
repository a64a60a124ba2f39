//===- Indexed.cpp - Gathers ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Positions.h"
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

static int64_t getStride(ArrayRef<int64_t> shape, int64_t axis) {
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
  auto axis = node.getAxis("dim", getRank(x));
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
/// for each of its axes; nullopt after an error if they depend on data.
static std::optional<SmallVector<Value>> listTrue(Node &node, Value mask) {
  auto known = readElements(mask);
  if (!known) {
    node.unsupported("selects elements by a mask, of which there are as many "
                     "as the data say; use torch.where in the model");
    return std::nullopt;
  }
  ArrayRef<int64_t> shape = getShape(mask);
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

std::optional<IndexList> readIndices(Node &node, Value x) {
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
      auto found = listTrue(node, index);
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

Value convertIndex(Node &node) {
  Value x = node.getTensor("self");
  auto list = x ? readIndices(node, x) : std::nullopt;
  if (!list)
    return {};
  if (list->axes.size() == 1)
    return node.create<nn::GatherOp>(x, list->indices[0], list->axes[0]);
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

//===----------------------------------------------------------------------===//
// Regular patterns
//===----------------------------------------------------------------------===//

/// Returns the elements of `x`, flat, at places that are `strides` apart along
/// the axes of `shape`, from `offset` on.
static Value takeStrided(Node &node, Value x, ArrayRef<int64_t> shape,
                         ArrayRef<int64_t> strides, int64_t offset) {
  int64_t last = offset;
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    int64_t most;
    if (size < 0 || stride < 0 ||
        llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, most) ||
        llvm::AddOverflow(last, most, last))
      return node.broken("has negative or too large sizes or strides");
  }
  if (!node.checkSize(RankedTensorType::get(shape, getElement(x))))
    return {};
  if (offset < 0 || (last >= getNumElements(x) && product(shape) > 0))
    return node.broken("reads beyond its operand");
  Value positions =
      node.splat(static_cast<double>(offset), node.getBuilder().getI64Type(),
                 SmallVector<int64_t>(shape.size(), 1));
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size != 1)
      positions = node.createElementwise(
          "add", {positions,
                  makeSteps(node, size, strides[axis], axis, shape.size())});
  return node.create<nn::GatherOp>(node.reshape(x, {getNumElements(x)}),
                                   positions, int64_t(0));
}

/// Converts as_strided of a tensor whose elements follow each other.
Value convertAsStrided(Node &node) {
  Value x = node.getTensor("self");
  SmallVector<int64_t> shape = node.getInts("size"),
                       strides = node.getInts("stride");
  if (!x || shape.size() != strides.size())
    return x ? node.broken("has other numbers of sizes and strides") : Value();
  int64_t offset = node.getInt("storage_offset", 0), expected = 1;
  bool isWhole = offset == 0 && product(shape) == getNumElements(x);
  for (size_t i = shape.size(); i-- > 0; expected *= shape[i])
    isWhole &= shape[i] == 1 || strides[i] == expected;
  return isWhole ? node.reshape(x, shape)
                 : takeStrided(node, x, shape, strides, offset);
}

/// Converts unfold, whose windows along an axis become a last axis.
Value convertUnfold(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dimension", getRank(x));
  int64_t size = node.getInt("size"), step = node.getInt("step");
  if (!x || !axis || getRank(x) == 0)
    return {};
  SmallVector<int64_t> shape(getShape(x)), strides;
  if (size < 0 || step <= 0 || size > shape[*axis])
    return node.broken("has windows of size " + Twine(size) + ", " +
                       Twine(step) + " apart");
  int64_t count = (shape[*axis] - size) / step + 1;
  // The gathered axis becomes two: windows and their elements.
  SmallVector<int64_t> places;
  if (!node.checkSize(
          RankedTensorType::get({count, size}, node.getBuilder().getI64Type())))
    return {};
  for (int64_t window : iota(count))
    for (int64_t i : iota(size))
      places.push_back(window * step + i);
  Value y = node.create<nn::GatherOp>(
      x, node.reshape(node.constant(places), {count, size}), *axis);
  SmallVector<int64_t> order = iota(shape.size() + 1);
  order.erase(order.begin() + *axis + 1);
  order.push_back(*axis + 1);
  return y ? node.transpose(y, order) : y;
}

/// Converts diag_embed: a matrix whose diagonal is the last axis.
Value convertDiagEmbed(Node &node) {
  Value x = node.getTensor("self");
  int64_t offset = node.getInt(node.has("diagonal") ? "diagonal" : "offset"),
          rank = getRank(x);
  if (!x || rank == 0)
    return x ? node.broken("needs a vector") : x;
  auto a = node.getAxis("dim1", rank + 1, -2),
       b = node.getAxis("dim2", rank + 1, -1);
  if (!a || !b)
    return {};
  if (*a != rank - 1 || *b != rank)
    return node.unsupported("puts the matrices along other axes than the last");
  int64_t count = getShape(x).back(), more = std::abs(offset);
  if (more > 1 << 20)
    return node.unsupported("has an offset of " + Twine(offset));
  int64_t size = count + more;
  // Row i of the matrix has element i at column i + offset, and zeros.
  SmallVector<int64_t> rows = iota(size), columns = iota(size);
  Value row = node.reshape(node.constant(rows), {size, 1});
  Value isOn = node.createElementwise(
      "equal", {node.reshape(node.constant(columns), {1, size}),
                node.createBinary("add", row, static_cast<double>(offset))});
  SmallVector<int64_t> pads(2 * rank, 0);
  pads[offset < 0 ? rank - 1 : 2 * rank - 1] = more;
  if (more)
    x = node.create<nn::PadOp>(nn::PadMode::constant, x,
                               ArrayRef<int64_t>(pads), llvm::APFloat(0.0));
  return x ? node.createElementwise("select", {isOn, node.unsqueeze(x, rank),
                                               node.splat(0, getElement(x))})
           : x;
}

Value convertDiagonal(Node &node) {
  Value x = node.getTensor("self");
  int64_t rank = getRank(x);
  auto a = node.getAxis("dim1", rank, 0), b = node.getAxis("dim2", rank, 1);
  int64_t offset = node.getInt(node.has("diagonal") ? "diagonal" : "offset");
  if (!x || !a || !b || rank < 2 || *a == *b)
    return x && a && b ? node.broken("needs two axes") : Value();
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rows = shape[*a], columns = shape[*b];
  int64_t top = offset < 0 ? -offset : 0, left = offset > 0 ? offset : 0;
  int64_t count = std::max<int64_t>(
      std::min(rows - std::min(top, rows), columns - std::min(left, columns)),
      0);
  SmallVector<int64_t> sizes, strides;
  for (int64_t axis : iota(rank))
    if (axis != *a && axis != *b) {
      sizes.push_back(shape[axis]);
      strides.push_back(getStride(shape, axis));
    }
  sizes.push_back(count);
  strides.push_back(getStride(shape, *a) + getStride(shape, *b));
  return takeStrided(
      node, x, sizes, strides,
      count ? top * getStride(shape, *a) + left * getStride(shape, *b) : 0);
}

/// Converts diag: the diagonal of a matrix, or a matrix with a vector on it.
Value convertDiag(Node &node) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  return getRank(x) == 1 ? convertDiagEmbed(node) : convertDiagonal(node);
}

} // namespace nnc::torch
