//===- Matrices.cpp - Diagonals and products of vectors ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Reads one number in input `i`, which is known when compiling; `otherwise`
/// where the node has no such input. Returns nullopt after an error.
static std::optional<int64_t> readNumber(Layer &layer, size_t i,
                                         int64_t otherwise, StringRef what) {
  if (i >= layer.getNumInputs())
    return otherwise;
  auto given = layer.readInts(layer.getInput(i), what);
  if (!given)
    return std::nullopt;
  if (given->size() == 2 && (*given)[0] == (*given)[1])
    given->pop_back();
  if (given->size() == 1 && std::abs((*given)[0]) <= kMaxDim)
    return (*given)[0];
  layer.unsupported("has several diagonals; nnc handles one");
  return std::nullopt;
}

/// Returns bools of shape rows x columns that are true on diagonal `diagonal`.
static Value makeDiagonal(Layer &layer, int64_t rows, int64_t columns,
                          int64_t diagonal) {
  Type element = layer.getBuilder().getI32Type();
  Value row = makeCounts(layer, rows, element, 0, 2),
        column = makeCounts(layer, columns, element, 1, 2);
  return layer.createElementwise(
      "equal",
      {column, layer.createElementwise(
                   "add", {row, layer.splat(double(diagonal), element)})});
}

/// Returns vectors as the diagonals of matrices: element i is in row
/// i - min(diagonal, 0) and column i + max(diagonal, 0).
static Value spreadDiagonal(Layer &layer, Value x, int64_t rows,
                            int64_t columns, int64_t diagonal) {
  int64_t size = getShape(x).back(), rank = getRank(x);
  // Each row holds its element in all columns; others are replaced by a mask.
  int64_t above = std::max<int64_t>(-diagonal, 0);
  Sizes pads(2 * rank, 0);
  pads[rank - 1] = above;
  pads[2 * rank - 1] = rows - above - size;
  Value y = padWith(layer, x, pads, 0);
  Sizes shape(getShape(y));
  shape.push_back(1);
  y = layer.reshape(y, shape);
  shape.back() = columns;
  return layer.expand(y, shape);
}

/// Converts MatrixDiag, V2 and V3: matrices with given diagonals.
Value convertMatrixDiag(Layer &layer) {
  Value x = layer.getInput(0);
  auto diagonal = readNumber(layer, 1, 0, "a diagonal"),
       rows = readNumber(layer, 2, -1, "a number of rows"),
       columns = readNumber(layer, 3, -1, "a number of columns");
  if (!x || !diagonal || !rows || !columns)
    return {};
  if (getRank(x) < 1 || getNumElements(x) == 0)
    return layer.broken("has diagonals of shape " + toString(getShape(x)));
  int64_t size = getShape(x).back();
  int64_t leastRows = size + std::max<int64_t>(-*diagonal, 0),
          leastColumns = size + std::max<int64_t>(*diagonal, 0);
  if (*rows < 0 && *columns < 0)
    leastRows = leastColumns = std::max(leastRows, leastColumns);
  if (*rows < 0)
    *rows = leastRows;
  if (*columns < 0)
    *columns = leastColumns;
  if (*rows < leastRows || *columns < leastColumns)
    return layer.broken("has diagonals that do not fit into matrices of " +
                        Twine(*rows) + " x " + Twine(*columns));
  Value padding = layer.getNumInputs() > 4
                      ? layer.reshape(layer.getInput(4), {})
                      : layer.splat(0.0, getElement(x));
  return layer.createElementwise(
      "select",
      {makeDiagonal(layer, *rows, *columns, *diagonal),
       spreadDiagonal(layer, x, *rows, *columns, *diagonal), padding});
}

/// Converts MatrixDiagPart, V2 and V3: a diagonal of each matrix.
Value convertMatrixDiagPart(Layer &layer) {
  Value x = layer.getInput(0);
  auto diagonal = readNumber(layer, 1, 0, "a diagonal");
  if (!x || !diagonal)
    return {};
  int64_t rank = getRank(x);
  if (rank < 2)
    return layer.broken("needs matrices");
  Sizes shape(getShape(x));
  int64_t rows = shape[rank - 2], columns = shape[rank - 1],
          row = std::max<int64_t>(-*diagonal, 0),
          column = std::max<int64_t>(*diagonal, 0);
  int64_t size = std::min(rows - row, columns - column);
  if (size < 1)
    return layer.broken("has no diagonal " + Twine(*diagonal) +
                        " in matrices of " + Twine(rows) + " x " +
                        Twine(columns));
  shape.pop_back();
  shape.back() = rows * columns;
  Sizes places;
  for (int64_t i = 0; i < size; ++i)
    places.push_back((row + i) * columns + column + i);
  return layer.create<nn::GatherOp>(layer.reshape(x, shape),
                                    layer.constant(places), rank - 2);
}

/// Converts MatrixSetDiag, V2 and V3: matrices with a diagonal replaced.
Value convertMatrixSetDiag(Layer &layer) {
  Value x = layer.getInput(0), part = layer.getInput(1);
  auto diagonal = readNumber(layer, 2, 0, "a diagonal");
  if (!x || !part || !diagonal)
    return {};
  int64_t rank = getRank(x);
  if (rank < 2 || getRank(part) != rank - 1)
    return layer.broken("needs matrices and a vector for each");
  int64_t rows = getShape(x)[rank - 2], columns = getShape(x)[rank - 1];
  if (getShape(part).back() !=
      std::min(rows - std::max<int64_t>(-*diagonal, 0),
               columns - std::max<int64_t>(*diagonal, 0)))
    return layer.broken("has diagonals of " + Twine(getShape(part).back()) +
                        " elements for matrices of " + Twine(rows) + " x " +
                        Twine(columns));
  return layer.createElementwise(
      "select", {makeDiagonal(layer, rows, columns, *diagonal),
                 spreadDiagonal(layer, part, rows, columns, *diagonal), x});
}

/// Converts Cross: the products of vectors of three elements.
Value convertCross(Layer &layer) {
  Value a = layer.getInput(0), b = layer.getInput(1);
  if (!a || !b)
    return {};
  if (getRank(a) < 1 || getShape(a).back() != 3 || getShape(a) != getShape(b))
    return layer.broken("multiplies vectors of shapes " +
                        toString(getShape(a)) + " and " +
                        toString(getShape(b)));
  auto turn = [&](Value x, ArrayRef<int64_t> order) {
    return layer.create<nn::GatherOp>(x, layer.constant(order), getRank(x) - 1);
  };
  Value left = layer.createElementwise(
            "mul", {turn(a, {1, 2, 0}), turn(b, {2, 0, 1})}),
        right = layer.createElementwise(
            "mul", {turn(a, {2, 0, 1}), turn(b, {1, 2, 0})});
  return layer.createElementwise("sub", {left, right});
}

/// Converts XlaDynamicUpdateSlice with a known start, which is moved so that
/// the update lies in the tensor: the tensor with a part replaced.
Value convertUpdateSlice(Layer &layer) {
  Value x = layer.getInput(0), update = layer.getInput(1);
  auto starts = layer.readInts(layer.getInput(2), "a start");
  if (!x || !update || !starts)
    return {};
  int64_t rank = getRank(x);
  if (getRank(update) != rank || int64_t(starts->size()) != rank ||
      getNumElements(update) == 0)
    return layer.broken("has an update of shape " + toString(getShape(update)) +
                        " at " + toString(*starts) + " of a tensor of shape " +
                        toString(getShape(x)));
  Sizes pads(2 * rank, 0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t rest = getShape(x)[axis] - getShape(update)[axis];
    if (rest < 0)
      return layer.broken("has an update that is larger than its tensor");
    pads[axis] = std::clamp<int64_t>((*starts)[axis], 0, rest);
    pads[rank + axis] = rest - pads[axis];
  }
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return update;
  Type integer = layer.getBuilder().getI32Type();
  Value isIn = layer.castTo(
      padWith(layer, layer.splat(1.0, integer, getShape(update)), pads, 0),
      layer.getBuilder().getI1Type());
  return layer.createElementwise("select",
                                 {isIn, padWith(layer, update, pads, 0), x});
}

} // namespace nnc::tensorflow
