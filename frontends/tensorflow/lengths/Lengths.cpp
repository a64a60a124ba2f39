//===- Lengths.cpp - Where, Unique and NonMaxSuppression ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Operators whose results have data-dependent sizes. A routine finds a number
// of elements and writes this number in front of them; the result is the slice
// of the elements that were found (frontends/common/Lengths.h).
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/lengths/Lengths.h"

#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Returns `count` elements of a list from `start` on.
static Value takeElements(Layer &layer, Value list, int64_t start,
                          int64_t count) {
  return list ? layer.create<nn::SliceOp>(list, ArrayRef<int64_t>{start},
                                          ArrayRef<int64_t>{count},
                                          ArrayRef<int64_t>{1})
              : Value();
}

/// Registers the size that the first element of `found` tells.
static std::optional<unsigned> addLength(Layer &layer, Value found,
                                         int64_t most,
                                         const LengthExpression &limit = {},
                                         const Twine &suffix = "") {
  FoundSize size{(layer.getNode().name() + suffix).str(), most};
  Lengths &lengths = layer.getImporter().getLengths();
  if (limit && !limit.getConstant())
    size.within = lengths.findOuter(limit);
  return lengths.add(layer, size, takeElements(layer, found, 0, 1));
}

static Value cutTo(Layer &layer, Value x, std::optional<unsigned> size) {
  return x && size ? layer.getImporter().getLengths().cut(layer, x, *size)
                   : Value();
}

/// Returns true if a tensor without elements has none in every import.
static bool isAlwaysEmpty(Layer &layer, Value x) {
  return getNumElements(x) == 0 &&
         (layer.dropsEmpty(x) ||
          !layer.getImporter().getLengths().mayBeNext(layer.getNode().name()));
}

/// Returns `x` in a type that all routines support and that preserves its
/// order.
static Value widenHalves(Layer &layer, Value x) {
  Type type = getElement(x);
  bool isHalf =
      isa_and_nonnull<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  return isHalf ? layer.castTo(x, layer.getBuilder().getF32Type()) : x;
}

std::optional<Value> getRunTimeShape(Layer &layer, Value x, Type element) {
  const Lengths &lengths = layer.getImporter().getLengths();
  if (lengths.getSizes().empty())
    return std::nullopt;
  SmallVector<LengthExpression> sizes;
  bool varies = false;
  for (int64_t axis = 0; axis < getRank(x); ++axis) {
    sizes.push_back(lengths.describe(x, axis));
    if (!sizes.back())
      return layer.unsupported(
          "asks for the shape of a tensor whose size depends on data in a way "
          "that nnc does not follow");
    varies |= !sizes.back().getConstant();
  }
  if (!varies)
    return std::nullopt;
  SmallVector<Value> parts;
  for (const LengthExpression &size : sizes) {
    Value number = buildLength(size, layer, lengths.getCounts());
    parts.push_back(layer.reshape(layer.castTo(number, element), {1}));
    if (!parts.back())
      return Value();
  }
  return parts.size() == 1 ? parts[0] : join(layer, parts, 0);
}

Value findPositions(Layer &layer, Value x, const Twine &suffix) {
  int64_t count = getNumElements(x);
  if (isAlwaysEmpty(layer, x))
    return layer.alwaysEmpty({0}, layer.getBuilder().getI64Type());
  if (auto known = readElements(x)) {
    Sizes found;
    for (int64_t i = 0; i < count; ++i)
      if (known->isReal() ? known->reals[i] != 0 : known->ints[i] != 0)
        found.push_back(i);
    return layer.constant(found);
  }
  const Lengths &lengths = layer.getImporter().getLengths();
  LengthExpression all(1);
  for (int64_t axis = 0; axis < getRank(x); ++axis)
    all = lengths.combine(LengthExpression::Kind::mul, all,
                          lengths.describe(x, axis));
  Value found = layer.create<nn::FindOp>(widenHalves(layer, x));
  auto size =
      found ? addLength(layer, found, count, all, suffix) : std::nullopt;
  return cutTo(layer, takeElements(layer, found, 1, count), size);
}

/// Converts Where: the indices of the elements that are not zero, a row for
/// each.
Value convertWhere(Layer &layer) {
  Value x = layer.getInput(0);
  Value positions = x ? findPositions(layer, x) : Value();
  if (!positions)
    return {};
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rank = getRank(x), found = getNumElements(positions);
  Type type = getElement(positions);
  if (found == 0 && layer.dropsEmpty(positions))
    return layer.alwaysEmpty({found, rank}, type);
  if (rank == 0)
    return layer.broken("finds elements of a scalar");
  Lengths &lengths = layer.getImporter().getLengths();
  LengthExpression size = lengths.describe(positions, 0);
  positions = layer.reshape(positions, {found, 1});
  SmallVector<Value> columns;
  for (int64_t axis = 0; axis < rank; ++axis) {
    Value index = positions;
    if (int64_t stride = product(shape.drop_front(axis + 1)); stride != 1)
      index = layer.createElementwise(
          "div", {index, layer.splat(double(stride), type)});
    if (axis != 0)
      index = layer.createElementwise(
          "mod", {index, layer.splat(double(shape[axis]), type)});
    columns.push_back(index);
  }
  Value rows = rank == 1 ? columns[0] : join(layer, columns, 1);
  if (rows) {
    lengths.noteDim(rows, 0, size);
    lengths.noteDim(rows, 1, rank);
  }
  return rows;
}

/// Converts Unique and UniqueWithCounts: the different elements of a vector in
/// the order of their first occurrence, the number of that element for each,
/// and how often it occurs.
Value convertUnique(Layer &layer) {
  Value x = layer.getInput(0);
  Type element = layer.getType("out_idx", pb::DT_INT32);
  if (!x || !element)
    return {};
  if (getRank(x) != 1)
    return layer.broken("needs a vector");
  int64_t rows = getShape(x)[0];
  if (isAlwaysEmpty(layer, x)) {
    for (size_t i = 1; i < 3; ++i)
      layer.setResult(i, layer.alwaysEmpty({0}, element));
    return x;
  }
  Value found = layer.create<nn::DistinctOp>(
      layer.reshape(widenHalves(layer, x), {rows, 1}), /*sorted=*/false);
  auto size = found ? addLength(layer, found, rows,
                                layer.getImporter().getLengths().describe(x, 0))
                    : std::nullopt;
  Value firsts = cutTo(layer, takeElements(layer, found, 1, rows), size);
  layer.setResult(
      1, layer.castTo(takeElements(layer, found, 1 + rows, rows), element));
  if (layer.getOp() == "UniqueWithCounts")
    layer.setResult(
        2,
        layer.castTo(
            cutTo(layer, takeElements(layer, found, 1 + 2 * rows, rows), size),
            element));
  return layer.create<nn::GatherOp>(x, firsts, int64_t(0));
}

Value cutColumns(Layer &layer, Value x, const DecodedShape &shape) {
  auto size =
      x ? addLength(layer, shape.columns, shape.mostColumns) : std::nullopt;
  Value columns = cutTo(layer, layer.transpose(x, {1, 0}), size);
  return columns ? layer.transpose(columns, {1, 0}) : Value();
}

Value cutSuppressed(Layer &layer, Value found, Value indices, Value scores,
                    int64_t most, std::optional<size_t> scoreResult) {
  auto size = found ? addLength(layer, found, most) : std::nullopt;
  if (scoreResult)
    layer.setResult(*scoreResult, cutTo(layer, scores, size));
  return cutTo(layer, indices, size);
}

} // namespace nnc::tensorflow
