//===- Padding.cpp - Expand, Tile and Pad ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/qnn/Qnn.h"
#include "frontends/onnx/moves/Positions.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

//===----------------------------------------------------------------------===//
// Expand and Tile
//===----------------------------------------------------------------------===//

/// Returns the result of an Expand of `x` whose shape, `shape` in this import,
/// is computed from data-dependent sizes. If the number of rows is such a size,
/// the result is a slice of a larger constant.
static Value expandByLengths(Node &node, Value x, SmallVector<int64_t> shape) {
  GraphImporter &importer = node.getImporter();
  const int64_t rank = shape.size(), given = getNumElements(node.getOperand(1));
  constexpr auto isOne = [](const LengthExpression &dim) {
    return dim.getConstant() == std::optional<int64_t>(1);
  };
  SmallVector<LengthExpression> dims;
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t ofX = axis - rank + getRank(x), ofShape = axis - rank + given;
    LengthExpression own = 1, wanted = 1;
    if (ofX >= 0)
      own = importer.getLengths().describe(x, ofX);
    if (ofShape >= 0)
      wanted = node.readLength(1, ofShape);
    dims.push_back(isOne(own)      ? wanted
                   : isOne(wanted) ? own
                                   : LengthExpression());
  }
  std::optional<unsigned> rows;
  bool isOfRows = rank > 0 && dims[0] && !dims[0].getConstant() &&
                  x.getDefiningOp<nn::ConstantOp>() && !importer.isInBody() &&
                  llvm::all_of(llvm::drop_begin(dims), [](auto &dim) {
                    return dim && dim.getConstant();
                  });
  // Memory is planned for the largest sizes.
  if (isOfRows && importer.getLengths().isLargestAtMost(dims[0]))
    rows = node.makeLength(dims[0]);
  if (rows) {
    shape[0] = node.getRoom(*rows);
    return node.cut(node.expand(x, shape), rows);
  }
  Value y = node.expand(x, shape);
  if (!y || y == x)
    return y;
  for (auto [axis, dim] : llvm::enumerate(dims))
    importer.noteDim(y, int64_t(axis), dim);
  auto known = readElements(x);
  if (known && getNumElements(x) == 1)
    importer.noteFilling(y, known->isReal() ? known->reals[0]
                                            : double(known->ints[0]));
  return y;
}

Value convertExpand(Node &node) {
  Value x = node.getOperand(0);
  auto shape = node.getConstantInts(1, "shapes");
  if (!shape)
    return {};
  for (auto [axis, size] : llvm::enumerate(*shape))
    if (size < 0 && node.mayBeNegative(1, axis))
      return {};
    else if (size < 0 || size > kMaxDim)
      return node.broken("asks for shape " + toString(*shape));
  auto result = nn::broadcastShapes({getShape(x), *shape});
  if (!result)
    return node.broken("cannot expand a tensor of shape " +
                       toString(getShape(x)) + " to " + toString(*shape));
  // Leading axes that only x has are also in the result's shape.
  return node.findSources(1) != 0 ? expandByLengths(node, x, *result)
                                  : node.expand(x, *result);
}

/// Returns the number of repetitions of each axis for a Tile; nullopt if it is
/// not known or after an error. Before opset 6, Tile repeated one axis, which
/// was an input.
static std::optional<SmallVector<int64_t>> getRepeats(Node &node, Value x) {
  auto repeats = node.getConstantInts(1, "repeats");
  if (!repeats || node.getVersion() >= 6)
    return repeats;
  auto axis = node.getConstantInts(2, "axes");
  if (!axis || axis->size() != 1 || repeats->size() != 1) {
    node.broken("needs one axis and one number of tiles");
    return std::nullopt;
  }
  auto normal = node.normalizeAxis((*axis)[0], getRank(x));
  if (!normal)
    return std::nullopt;
  SmallVector<int64_t> all(getRank(x), 1);
  all[*normal] = (*repeats)[0];
  return all;
}

Value convertTile(Node &node) {
  Value x = node.getOperand(0);
  auto repeats = getRepeats(node, x);
  if (!repeats)
    return {};
  if (static_cast<int64_t>(repeats->size()) != getRank(x))
    return node.broken("has " + Twine(repeats->size()) +
                       " repeats for an input of " + Twine(getRank(x)) +
                       " axes");
  SmallVector<int64_t> shape(getShape(x));
  for (auto [axis, count] : llvm::enumerate(*repeats)) {
    if (count < 0 || count > kMaxDim)
      return node.broken("repeats an axis " + Twine(count) + " times");
    if (count == 1 || !x)
      continue;
    // [outer, size * inner] -> [outer, count, size * inner]
    int64_t outer = product(ArrayRef(shape).take_front(axis)),
            inner = product(ArrayRef(shape).drop_front(axis));
    shape[axis] *= count;
    if (auto problem = findSizeProblem(shape, getElement(x), node.getLimits()))
      return node.fail(ImportStatus::limit, "has a result " + *problem);
    x = node.expand(node.reshape(x, {outer, 1, inner}), {outer, count, inner});
    x = node.reshape(x, shape);
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

/// Returns the pads of x: those in front of every axis, then those behind every
/// axis.
static std::optional<SmallVector<int64_t>> getPads(Node &node, Value x) {
  int64_t rank = getRank(x);
  // Attributes before opset 11, of another name before opset 2.
  auto given = node.getVersion() >= 11 ? node.getConstantInts(1, "pads")
                                       : node.getInts("pads");
  if (node.getVersion() < 2)
    given = node.getInts("paddings");
  std::optional<SmallVector<int64_t>> axes;
  if (!given || !node.getAxes(3, "axes", rank, axes))
    return std::nullopt;
  if (!axes)
    axes = iota(rank);
  if (given->size() != 2 * axes->size()) {
    node.broken("has " + Twine(given->size()) + " pads for " +
                Twine(axes->size()) + " axes");
    return std::nullopt;
  }
  SmallVector<int64_t> pads(2 * rank, 0);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    pads[axis] = (*given)[i];
    pads[rank + axis] = (*given)[axes->size() + i];
  }
  for (int64_t pad : pads)
    if (std::abs(pad) > kMaxDim) {
      node.broken("has a pad of " + Twine(pad));
      return std::nullopt;
    }
  return pads;
}

/// Returns the float that `value`, a tensor of one element, is dequantized to,
/// if it is dequantized from a constant; otherwise nullopt. Quantizers write
/// the value of a Pad so.
static std::optional<double> getDequantized(Value value) {
  auto dequantize = value.getDefiningOp<qnn::DequantizeOp>();
  auto stored = dequantize
                    ? dequantize.getX().getDefiningOp<qnn::ReinterpretOp>()
                    : nullptr;
  auto integers = stored ? readElements(stored.getX()) : std::nullopt;
  if (!integers || integers->isReal() || integers->ints.size() != 1)
    return std::nullopt;
  qnn::Parameters from = qnn::getParameters(dequantize.getX().getType());
  return static_cast<float>(integers->ints[0] - from.zeroPoints[0]) *
         static_cast<float>(from.scales[0]);
}

/// Returns the padding value if it is known and exactly representable as a
/// float, the type of the routines' parameter; otherwise nullopt.
static std::optional<double> getPadValue(Node &node) {
  if (node.getVersion() < 11)
    return node.getFloat("value");
  if (!node.getOperand(2))
    return 0;
  auto value = readElements(node.getOperand(2));
  if (!value)
    return getDequantized(node.getOperand(2));
  if (value->isReal()) {
    double real = value->reals[0];
    bool isExact = std::isnan(real) || static_cast<float>(real) == real;
    return isExact ? std::optional<double>(real) : std::nullopt;
  }
  constexpr int64_t most = 1 << 24;
  bool isExact = value->ints[0] >= -most && value->ints[0] <= most;
  return isExact ? std::optional<double>(value->ints[0]) : std::nullopt;
}

/// Pads with a value that the network computes. A padded mask selects between
/// the elements of x and that value.
static Value padWithOperand(Node &node, Value x, ArrayRef<int64_t> pads) {
  auto pad = [&](Value value) {
    return node.create<nn::PadOp>(nn::PadMode::constant, value, pads,
                                  APFloat(0.0));
  };
  Value mask = pad(node.splat(1, node.getBuilder().getI1Type(), getShape(x)));
  return node.createElementwise(
      "select", {mask, pad(x), node.reshape(node.getOperand(2), {})});
}

/// Maps positions along an axis of `size` elements, some of which are outside
/// of it, to the positions of the elements that padding in this mode puts
/// there.
static Value wrapPositions(Node &node, nn::PadMode mode, Value positions,
                           int64_t size) {
  Type type = node.getBuilder().getI64Type();
  auto number = [&](int64_t value) { return node.splat(value, type); };
  if (mode == nn::PadMode::wrap)
    return node.createElementwise("mod", {positions, number(size)});
  if (mode != nn::PadMode::reflect || size == 1)
    return positions;
  // Reflection has this period: once forward and once backward.
  int64_t period = 2 * (size - 1);
  positions = node.createElementwise("mod", {positions, number(period)});
  return node.createElementwise(
      "min",
      {positions, node.createElementwise("sub", {number(period), positions})});
}

/// Converts a Pad whose pads in front the network computes, and whose result
/// has the declared shape.
static Value computePad(Node &node, nn::PadMode mode, ArrayRef<int64_t> shape) {
  Value x = node.getOperand(0), pads = node.getOperand(1),
        axes = node.getOperand(3);
  int64_t rank = getRank(x), count = axes ? getNumElements(axes) : rank;
  Type type = node.getBuilder().getI64Type();
  if (static_cast<int64_t>(shape.size()) != rank ||
      getNumElements(pads) != 2 * count)
    return node.broken("has " + Twine(getNumElements(pads)) + " pads for " +
                       Twine(count) + " axes");
  SmallVector<int64_t> from = {0}, size = {count}, step = {1};
  Value fronts = node.create<nn::SliceOp>(pads, from, size, step);
  ByAxis list{axes ? axes : node.constant(iota(count)), rank};
  Value isInside;
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t length = getShape(x)[axis];
    if (!list.mayName(axis) && shape[axis] == length)
      continue;
    Value positions =
        node.createElementwise("sub", {makeSteps(node, shape[axis], 1, 0, 1),
                                       list.get(node, fronts, axis, 0)});
    if (mode == nn::PadMode::constant) {
      Value fits = node.createElementwise(
          "logical_and",
          {node.createElementwise("greater_equal",
                                  {positions, node.splat(0, type)}),
           node.createElementwise("less",
                                  {positions, node.splat(length, type)})});
      SmallVector<int64_t> along(rank, 1);
      along[axis] = shape[axis];
      fits = node.reshape(fits, along);
      isInside = isInside
                     ? node.createElementwise("logical_and", {isInside, fits})
                     : fits;
    }
    x = takeAlong(node, x, axis, wrapPositions(node, mode, positions, length));
    if (!x)
      return {};
  }
  if (!isInside)
    return x;
  Value other = node.getOperand(2) ? node.reshape(node.getOperand(2), {})
                                   : node.splat(0, getElement(x));
  return node.createElementwise("select", {isInside, x, other});
}

/// Records the sizes of the axes of `y`, the result of a Pad of `x`, as
/// expressions of data-dependent sizes.
static void notePadded(Node &node, Value x, Value y) {
  using Kind = LengthExpression::Kind;
  const int64_t rank = getRank(x);
  const Lengths &lengths = node.getImporter().getLengths();
  if (node.getOperand(3))
    return;
  for (int64_t axis = 0; axis < rank; ++axis) {
    LengthExpression ends = lengths.combine(Kind::add, node.readLength(1, axis),
                                            node.readLength(1, rank + axis));
    node.getImporter().noteDim(
        y, axis, lengths.combine(Kind::add, lengths.describe(x, axis), ends));
  }
}

Value convertPad(Node &node) {
  Value x = node.getOperand(0);
  StringRef name = node.getString("mode");
  auto mode = nn::symbolizePadMode(name);
  if (!mode)
    return node.broken("has mode '" + name + "', which ONNX does not know");
  bool isComputed = false;
  for (size_t i : {1, 3})
    isComputed |= node.getVersion() >= 11 && node.getOperand(i) &&
                  !readElements(node.getOperand(i));
  if (isComputed)
    if (auto shape = node.getDeclaredShape(0))
      return computePad(node, *mode, *shape);
  auto pads = getPads(node, x);
  if (!pads)
    return {};
  // Pads that are computed from data-dependent sizes differ between imports.
  bool varies = node.getVersion() >= 11 && node.findSources(1) != 0;
  if (!varies && llvm::all_of(*pads, [](int64_t pad) { return pad == 0; }))
    return x;
  // Reflection and repetition must take elements inside of the input.
  for (auto [i, pad] : llvm::enumerate(*pads)) {
    int64_t size = getShape(x)[i % getRank(x)];
    bool isTooFar = (*mode == nn::PadMode::reflect && pad >= size) ||
                    (*mode != nn::PadMode::constant && pad > 0 && size == 0);
    if (isTooFar)
      return node.broken("pads an axis of " + Twine(size) + " elements by " +
                         Twine(pad) + " in mode '" + name + "'");
  }
  if (*mode != nn::PadMode::constant)
    return node.create<nn::PadOp>(*mode, x, *pads, APFloat(0.0));
  if (node.getOperand(2) && getNumElements(node.getOperand(2)) != 1)
    return node.broken("needs one value to pad with, not a tensor of shape " +
                       toString(getShape(node.getOperand(2))));
  auto value = getPadValue(node);
  Value y = value ? node.create<nn::PadOp>(*mode, x, *pads, APFloat(*value))
                  : padWithOperand(node, x, *pads);
  if (y && varies && value)
    y.getDefiningOp()->setAttr(nn::kVariesAttr,
                               node.getBuilder().getUnitAttr());
  if (y && varies)
    notePadded(node, x, y);
  return y;
}

} // namespace nnc::onnx
