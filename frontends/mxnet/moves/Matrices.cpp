//===- Matrices.cpp - Diagonals, triangles and turned matrices ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

/// Returns a matrix of rows x columns of `type`, 1 where `isSet` holds and 0
/// elsewhere.
static Value makeMask(Layer &layer, int64_t rows, int64_t columns, Type type,
                      llvm::function_ref<bool(int64_t, int64_t)> isSet) {
  auto matrix = RankedTensorType::get({rows, columns}, layer.getF32());
  if (!layer.checkSize(matrix, /*isMade=*/true))
    return {};
  std::vector<float> elements;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      elements.push_back(isSet(i, j) ? 1 : 0);
  return layer.castTo(
      layer.constant(DenseElementsAttr::get(matrix, ArrayRef<float>(elements))),
      type);
}

/// Returns the diagonal `offset` of the axes `a` and `b`, as the last axis.
static Value takeDiagonal(Layer &layer, Value x, int64_t offset, int64_t a,
                          int64_t b) {
  int64_t rank = getRank(x);
  if (a == b)
    return layer.broken("has one axis twice");
  SmallVector<int64_t> order;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != a && axis != b)
      order.push_back(axis);
  SmallVector<int64_t> shape;
  for (int64_t axis : order)
    shape.push_back(getShape(x)[axis]);
  order.append({a, b});
  int64_t rows = getShape(x)[a], columns = getShape(x)[b];
  x = layer.transpose(x, order);
  if (offset > columns || offset < -rows)
    return layer.broken("takes diagonal " + Twine(offset) + " of " +
                        Twine(rows) + " x " + Twine(columns) + " elements");
  if (offset > 0)
    x = layer.slice(x, rank - 1, offset, columns -= offset);
  if (offset < 0)
    x = layer.slice(x, rank - 2, -offset, rows += offset);
  int64_t count = std::min(rows, columns);
  if (count < 1)
    return layer.broken("takes a diagonal without elements");
  x = layer.slice(layer.slice(x, rank - 2, 0, count), rank - 1, 0, count);
  // Every count + 1st element of rows of `count` elements.
  SmallVector<int64_t> flat = shape;
  flat.push_back(count * count);
  x = layer.slice(layer.reshape(x, flat), rank - 2, 0, count, count + 1);
  return x;
}

/// Returns matrices whose diagonal `offset` is the last axis of x, and whose
/// other elements are 0.
static Value placeDiagonal(Layer &layer, Value x, int64_t offset) {
  if (std::abs(offset) > kMaxDim)
    return layer.broken("has the diagonal " + Twine(offset));
  SmallVector<int64_t> shape(getShape(x));
  int64_t size = shape.back() + std::abs(offset);
  SmallVector<int64_t> pads(2 * getRank(x), 0);
  pads[getRank(x) - 1] = offset > 0 ? offset : 0;
  pads[2 * getRank(x) - 1] = offset < 0 ? -offset : 0;
  x = layer.create<nn::PadOp>(nn::PadMode::constant, x, pads, APFloat(0.0));
  shape.back() = 1;
  shape.push_back(size);
  // Row i has the element at column i + offset, if there is one.
  Value mask = makeMask(layer, size, size, getElement(x),
                        [&](int64_t i, int64_t j) { return j == i + offset; });
  return x ? layer.mul(layer.reshape(x, shape), mask) : x;
}

static Value convertDiagonal(Layer &layer, StringRef offset, int64_t a,
                             int64_t b) {
  Value x = layer.getInput(0);
  auto first = layer.getAxis("axis1", a, getRank(x)),
       second = layer.getAxis("axis2", b, getRank(x));
  return first && second
             ? takeDiagonal(layer, x, layer.getInt(offset, 0), *first, *second)
             : Value();
}

Value convertNumpyDiagonal(Layer &layer) {
  return convertDiagonal(layer, "offset", 0, 1);
}

/// Converts diag: the matrix with a vector as its diagonal, or the diagonal of
/// matrices.
Value convertDiag(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) == 0)
    return layer.broken("needs an input with axes");
  if (getRank(x) == 1)
    return placeDiagonal(layer, x, layer.getInt("k", 0));
  return convertDiagonal(layer, "k", 0, 1);
}

Value convertDiagFlat(Layer &layer) {
  Value x = layer.getInput(0);
  SmallVector<int64_t> flat = {getNumElements(x)};
  Value y = placeDiagonal(layer, layer.reshape(x, flat), layer.getInt("k", 0));
  return y ? layer.reshape(y, getShape(y).take_back(2)) : y;
}

/// Converts _linalg_extractdiag.
Value convertExtractDiag(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) < 2)
    return layer.broken("needs matrices");
  return takeDiagonal(layer, x, layer.getInt("offset", 0), getRank(x) - 2,
                      getRank(x) - 1);
}

/// Converts _linalg_makediag.
Value convertMakeDiag(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) < 1)
    return layer.broken("needs an input with axes");
  return placeDiagonal(layer, x, layer.getInt("offset", 0));
}

Value convertTrace(Layer &layer) {
  Value x = convertNumpyDiagonal(layer);
  return x ? layer.reduce(nn::ReduceKind::sum, x, {getRank(x) - 1}, false) : x;
}

/// Converts tril: elements above the diagonal `k` become 0.
Value convertTril(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) < 1)
    return layer.broken("needs an input with axes");
  int64_t k = std::clamp<int64_t>(layer.getInt("k", 0), -kMaxDim, kMaxDim),
          rank = getRank(x), columns = getShape(x)[rank - 1],
          rows = rank > 1 ? getShape(x)[rank - 2] : columns;
  Value mask = makeMask(layer, rows, columns, layer.getBuilder().getI1Type(),
                        [&](int64_t i, int64_t j) { return j <= i + k; });
  return layer.createElementwise("select", {mask, x, layer.scalar(0, x)});
}

Value convertMoveAxis(Layer &layer) {
  Value x = layer.getInput(0);
  auto from = layer.getInts("source").value_or(SmallVector<int64_t>()),
       to = layer.getInts("destination").value_or(SmallVector<int64_t>());
  int64_t rank = getRank(x);
  if (!layer.normalizeAxes(from, rank) || !layer.normalizeAxes(to, rank))
    return {};
  if (from.size() != to.size())
    return layer.broken("moves axes " + toString(from) + " to " + toString(to));
  SmallVector<int64_t> order(rank, -1);
  for (auto [a, b] : llvm::zip(from, to))
    order[b] = a;
  int64_t next = 0;
  for (int64_t &axis : order) {
    if (axis >= 0)
      continue;
    while (llvm::is_contained(from, next))
      ++next;
    axis = next++;
  }
  return layer.transpose(x, order);
}

/// Returns x with its elements along `axis` moved by `shift` places, those at
/// the end to the front.
static Value rollAxis(Layer &layer, Value x, int64_t axis, int64_t shift) {
  int64_t size = x ? getShape(x)[axis] : 0;
  if (size == 0)
    return x;
  shift = (shift % size + size) % size;
  if (shift == 0)
    return x;
  SmallVector<Value> parts = {layer.slice(x, axis, size - shift, shift),
                              layer.slice(x, axis, 0, size - shift)};
  return layer.create<nn::ConcatOp>(ValueRange(parts), axis);
}

Value convertRoll(Layer &layer) {
  Value x = layer.getInput(0);
  auto shifts = layer.getInts("shift").value_or(SmallVector<int64_t>());
  if (shifts.empty())
    return layer.broken("lacks its shift");
  if (!layer.has("axis")) {
    SmallVector<int64_t> shape(getShape(x));
    x = layer.reshape(x, {product(shape)});
    for (int64_t shift : shifts)
      x = rollAxis(layer, x, 0, shift);
    return layer.reshape(x, shape);
  }
  auto axes = layer.getInts("axis").value_or(SmallVector<int64_t>());
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  if (shifts.size() != 1 && shifts.size() != axes.size())
    return layer.broken("has shifts " + toString(shifts) + " of axes " +
                        toString(axes));
  for (auto [i, axis] : llvm::enumerate(axes))
    x = rollAxis(layer, x, axis, shifts[shifts.size() == 1 ? 0 : i]);
  return x;
}

/// Converts rot90: turns from the first to the second axis, by 90 degrees `k`
/// times.
Value convertRotate(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.getInts("axes").value_or(SmallVector<int64_t>{0, 1});
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  if (axes.size() != 2)
    return layer.broken("has axes " + toString(axes));
  int64_t turns = (layer.getInt("k", 1) % 4 + 4) % 4;
  auto flip = [&](int64_t axis) {
    int64_t size = x ? getShape(x)[axis] : 0;
    x = size ? layer.slice(x, axis, size - 1, size, -1) : x;
  };
  auto swap = [&] {
    SmallVector<int64_t> order = iota(getRank(x));
    std::swap(order[axes[0]], order[axes[1]]);
    x = layer.transpose(x, order);
  };
  if (turns == 1) {
    flip(axes[1]);
    swap();
  } else if (turns == 2) {
    flip(axes[0]);
    flip(axes[1]);
  } else if (turns == 3) {
    swap();
    flip(axes[1]);
  }
  return x;
}

/// Converts diff: differences of neighbours along an axis, `n` times.
Value convertDiff(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = layer.getAxis("axis", -1, getRank(x));
  if (!axis)
    return {};
  int64_t times = layer.getInt("n", 1), size = getShape(x)[*axis];
  if (times < 0 || times >= size)
    return layer.broken("takes " + Twine(times) + " differences of " +
                        Twine(size) + " elements");
  if (times > 64)
    return layer.fail(ImportStatus::limit, "takes more than 64 differences");
  for (int64_t i = 0; i < times && x; ++i) {
    size = getShape(x)[*axis];
    x = layer.createElementwise("sub", {layer.slice(x, *axis, 1, size - 1),
                                        layer.slice(x, *axis, 0, size - 1)});
  }
  return x;
}

} // namespace nnc::mxnet
