//===- Creation.cpp - Tensors that a program makes of numbers -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns the shape of the result: the operand `size`, or the shape of the
/// tensor `self` for operators such as zeros_like; nullopt after an error.
static std::optional<SmallVector<int64_t>> getResultShape(Node &node) {
  SmallVector<int64_t> shape;
  StringRef op = node.getOp().split('.').first;
  if (op.ends_with("_like") || (node.has("self") && !op.starts_with("new_"))) {
    Value like = node.getTensor("self");
    if (!like)
      return std::nullopt;
    shape.assign(getShape(like).begin(), getShape(like).end());
  } else {
    shape = node.getInts("size");
  }
  if (node.hasFailed())
    return std::nullopt;
  for (int64_t size : shape)
    if (size < 0) {
      node.broken("has a negative size");
      return std::nullopt;
    }
  return shape;
}

/// Returns the type of the elements of the result, as nnc computes it.
static Type getResultType(Node &node) {
  Type type = getComputedType(node.getStatedType());
  if (!type)
    node.unsupported("has a result of a type that nnc does not handle");
  return type;
}

/// Returns a constant of the result's type and of `shape` whose elements are
/// all `value`.
static Value fill(Node &node, const Scalar &value, ArrayRef<int64_t> shape,
                  Type type) {
  if (!type)
    return {};
  Value scalar = node.makeScalar(value, type);
  if (!scalar)
    return {};
  if (Type stated = node.getStatedType();
      stated && nn::isHalf(stated) && isa<FloatType>(type))
    scalar = node.roundToHalf(scalar, cast<FloatType>(stated));
  auto known = scalar ? readElements(scalar) : std::nullopt;
  if (!known)
    return node.expand(scalar, shape);
  return node.splat(
      known->isReal()
          ? TypedAttr(FloatAttr::get(type, known->reals[0]))
          : TypedAttr(IntegerAttr::get(
                type, APInt(type.getIntOrFloatBitWidth(),
                            static_cast<uint64_t>(known->ints[0])))),
      shape);
}

static Scalar wholeNumber(double value) {
  return {/*isReal=*/false, /*isBool=*/false, static_cast<int64_t>(value),
          value};
}

static Value fillResult(Node &node, const Scalar &value) {
  auto shape = getResultShape(node);
  return shape ? fill(node, value, *shape, getResultType(node)) : Value();
}

Value convertZeros(Node &node) { return fillResult(node, wholeNumber(0)); }
Value convertOnes(Node &node) { return fillResult(node, wholeNumber(1)); }

/// Converts full and fill, whose value is a number or a tensor of one element.
Value convertFull(Node &node) {
  StringRef name = node.has("fill_value") ? "fill_value"
                   : node.has("value")    ? "value"
                                          : "s";
  Node::Operand value = node.getOperand(name);
  if (!value.tensor)
    return value.number ? fillResult(node, *value.number) : Value();
  auto shape = getResultShape(node);
  Type type = getResultType(node);
  return shape && type
             ? node.expand(node.castTo(node.reshape(value.tensor, {}), type),
                           *shape)
             : Value();
}

/// Converts copy_: the operand's shape and type with the elements of another
/// tensor.
Value convertCopy(Node &node) {
  Value to = node.getTensor("self"), from = node.getTensor("src");
  Type type = node.getTensorType("self");
  if (type && nn::isHalf(type) && node.getTensorType("src") != type)
    from = node.roundToHalf(from, cast<FloatType>(type));
  return to && from
             ? node.expand(node.castTo(from, getElement(to)), getShape(to))
             : Value();
}

/// Converts item: a number that the network computes.
Value convertItem(Node &node) {
  Value x = node.getTensor("self");
  if (!x || node.getResultNames().empty())
    return {};
  if (getNumElements(x) != 1)
    return node.broken("needs a tensor of one element");
  x = node.reshape(x, {});
  Scalar number;
  number.isReal = isa<FloatType>(getElement(x));
  number.isBool = getElement(x).isInteger(1);
  if (auto known = readElements(x)) {
    number.real =
        known->isReal() ? known->reals[0] : static_cast<double>(known->ints[0]);
    number.integer = known->isReal() ? 0 : known->ints[0];
  } else {
    number.value = x;
    if (!number.isReal && !number.isBool)
      node.getImporter().addItemLength(node, node.getResultNames()[0], x);
    if (auto sized = node.getImporter().getScalar(node.getScope(),
                                                  node.getResultNames()[0]);
        sized && sized->length)
      number = *sized;
  }
  node.getScope().scalars[node.getResultNames()[0]] = number;
  return {};
}

Value convertScalarTensor(Node &node) {
  auto value = node.getScalar("s");
  return value ? fill(node, *value, {}, getResultType(node)) : Value();
}

//===----------------------------------------------------------------------===//
// Progressions
//===----------------------------------------------------------------------===//

/// Returns a constant of `count` elements of the result's type, of which
/// element i is get(i), as integers or as floats.
static Value makeVector(Node &node, int64_t count,
                        llvm::function_ref<int64_t(int64_t)> getInt,
                        llvm::function_ref<double(int64_t)> getReal) {
  Type type = getResultType(node);
  if (!type)
    return {};
  Elements elements;
  elements.type = RankedTensorType::get({count}, type);
  if (!node.checkSize(elements.type, /*isMade=*/true))
    return {};
  for (int64_t i = 0; i < count; ++i)
    if (elements.isReal())
      elements.reals.push_back(getReal(i));
    else
      elements.ints.push_back(getInt(i));
  return node.constant(makeAttribute(elements));
}

Value convertArange(Node &node) {
  auto start = node.getScalar("start"), end = node.getScalar("end"),
       step = node.getScalar("step");
  if (node.hasFailed() || !end)
    return node.hasFailed() ? Value() : node.broken("has no end");
  Scalar first = start.value_or(wholeNumber(0)),
         by = step.value_or(wholeNumber(1));
  for (const Scalar &number : {first, *end, by})
    if (number.value && !number.isOfSizes)
      return node.needsKnown(number.value, "a start, an end and a step");
  double length = std::ceil((end->real - first.real) / by.real);
  if (!(length >= 0 && length <= INT32_MAX))
    return node.broken("has a start, an end and a step without elements "
                       "between them");
  return makeVector(
      node, static_cast<int64_t>(length),
      [&](int64_t i) {
        return first.isReal || by.isReal
                   ? static_cast<int64_t>(first.real +
                                          static_cast<double>(i) * by.real)
                   : first.integer + i * by.integer;
      },
      [&](int64_t i) { return first.real + static_cast<double>(i) * by.real; });
}

/// Returns numbers at equal distances from the argument `start`
/// to `end`, to each of which `map` has been applied.
static Value makeProgression(Node &node,
                             llvm::function_ref<double(double)> map) {
  double start = node.getFloat("start"), end = node.getFloat("end");
  int64_t count = node.getInt("steps");
  if (count < 0 || count > INT32_MAX)
    return node.broken("has " + Twine(count) + " steps");
  double step = count > 1 ? (end - start) / static_cast<double>(count - 1) : 0;
  // Like PyTorch, from both ends to the middle.
  auto get = [&](int64_t i) {
    return map(i < count / 2 || count == 1
                   ? start + step * static_cast<double>(i)
                   : end - step * static_cast<double>(count - 1 - i));
  };
  return makeVector(
      node, count, [&](int64_t i) { return static_cast<int64_t>(get(i)); },
      get);
}

Value convertLinspace(Node &node) {
  return makeProgression(node, [](double x) { return x; });
}

/// Converts logspace, the powers of a base with such exponents.
Value convertLogspace(Node &node) {
  double base = node.getFloat("base", 10);
  return makeProgression(node, [&](double x) { return std::pow(base, x); });
}

/// Returns the i64 numbers 0 to count - 1 along `axis` of `rank` axes.
static Value makeIndices(Node &node, int64_t count, int64_t axis,
                         int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[axis] = count;
  return node.reshape(node.constant(iota(count)), shape);
}

/// Returns whether elements of a matrix of `rows` x `columns` are on the lower
/// (or the upper) side of the diagonal number `diagonal`, as a constant.
static Value makeTriangle(Node &node, int64_t rows, int64_t columns,
                          int64_t diagonal, bool isLower) {
  if (!node.checkSize(RankedTensorType::get({rows, columns},
                                            node.getBuilder().getI64Type())))
    return {};
  Value row = makeIndices(node, rows, 0, 2),
        column = makeIndices(node, columns, 1, 2);
  Value limit = node.createBinary("add", row, static_cast<double>(diagonal));
  return node.createElementwise(isLower ? "less_equal" : "greater_equal",
                                {column, limit});
}

static Value keepTriangle(Node &node, bool isLower) {
  Value x = node.getTensor("self");
  if (!x)
    return {};
  if (getRank(x) < 2)
    return node.broken("needs a matrix");
  ArrayRef<int64_t> shape = getShape(x);
  int64_t limit = INT32_MAX, diagonal = node.getInt("diagonal");
  Value keeps = makeTriangle(node, shape[shape.size() - 2], shape.back(),
                             std::clamp(diagonal, -limit, limit), isLower);
  return node.createElementwise("select",
                                {keeps, x, node.splat(0, getElement(x))});
}

Value convertTril(Node &node) { return keepTriangle(node, true); }
Value convertTriu(Node &node) { return keepTriangle(node, false); }

/// Returns the rows and columns of the elements of a triangle, as 2 x count
/// numbers.
static Value listTriangle(Node &node, bool isLower) {
  int64_t rows = node.getInt("row"), columns = node.getInt("col"),
          limit = INT32_MAX,
          offset = std::clamp(node.getInt("offset"), -limit, limit);
  if (rows < 0 || columns < 0 || rows > 65536 || columns > 65536)
    return node.unsupported("has " + Twine(rows) + " rows and " +
                            Twine(columns) + " columns");
  Type type = getResultType(node);
  if (!type || !node.checkSize(RankedTensorType::get({2, rows, columns}, type),
                               /*isMade=*/true))
    return {};
  Elements elements;
  SmallVector<int64_t> seconds;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (isLower ? j <= i + offset : j >= i + offset) {
        elements.ints.push_back(i);
        seconds.push_back(j);
      }
  elements.type =
      RankedTensorType::get({2, static_cast<int64_t>(seconds.size())}, type);
  llvm::append_range(elements.ints, seconds);
  return node.constant(makeAttribute(elements));
}

Value convertTrilIndices(Node &node) { return listTriangle(node, true); }
Value convertTriuIndices(Node &node) { return listTriangle(node, false); }

Value convertEye(Node &node) {
  int64_t rows = node.getInt("n"), columns = node.getInt("m", rows);
  Type type = getResultType(node);
  if (!type || rows < 0 || columns < 0)
    return type ? node.broken("has a negative size") : Value();
  if (!node.checkSize(RankedTensorType::get({rows, columns}, type),
                      /*isMade=*/true))
    return {};
  return node.castTo(
      node.createElementwise("equal", {makeIndices(node, rows, 0, 2),
                                       makeIndices(node, columns, 1, 2)}),
      type);
}

Value convertOneHot(Node &node) {
  Value x = node.getTensor("self");
  int64_t classes = node.getInt("num_classes", -1);
  if (!x)
    return {};
  if (classes <= 0)
    return node.unsupported("has a number of classes that depends on data; "
                            "pass num_classes");
  Value classNumbers = makeIndices(node, classes, getRank(x), getRank(x) + 1);
  return node.castTo(node.createElementwise(
                         "equal", {node.unsqueeze(x, getRank(x)),
                                   node.castTo(classNumbers, getElement(x))}),
                     node.getBuilder().getI64Type());
}

/// Converts meshgrid: result i has tensor i along axis i, and repeats it along
/// the others. With "xy" the first two axes change places.
Value convertMeshgrid(Node &node) {
  SmallVector<Value> tensors = node.getTensors("tensors");
  bool isSwapped = node.getString("indexing", "ij") == "xy";
  int64_t rank = tensors.size();
  if (tensors.empty() || llvm::is_contained(tensors, Value()))
    return {};
  auto getPlace = [&](int64_t i) {
    return isSwapped && rank > 1 && i < 2 ? 1 - i : i;
  };
  SmallVector<int64_t> shape(rank);
  for (int64_t i = 0; i < rank; ++i)
    shape[getPlace(i)] = getNumElements(tensors[i]);
  Value first;
  for (int64_t i = 0; i < rank; ++i) {
    SmallVector<int64_t> own(rank, 1);
    own[getPlace(i)] = getNumElements(tensors[i]);
    Value y = node.expand(node.reshape(tensors[i], own), shape);
    node.setResult(i, y);
    if (i == 0)
      first = y;
  }
  return first;
}

} // namespace nnc::torch
