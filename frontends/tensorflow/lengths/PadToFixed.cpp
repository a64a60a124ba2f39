//===- PadToFixed.cpp - Pads that fill up found elements ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Padding.h"
#include "frontends/tensorflow/lengths/Lengths.h"
#include "frontends/tensorflow/moves/Moves.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

static LengthExpression readValue(const Lengths &lengths, Value x, int64_t i,
                                  int depth);

/// Returns element `i` of the result of `op` if it is an elementwise op that
/// expressions have, otherwise null.
static LengthExpression readArithmetic(const Lengths &lengths, Operation *op,
                                       int64_t i, int depth) {
  using Kind = LengthExpression::Kind;
  std::optional<Kind> kind =
      TypeSwitch<Operation *, std::optional<Kind>>(op)
          .Case<nn::AddOp>([](auto) { return Kind::add; })
          .Case<nn::SubOp>([](auto) { return Kind::sub; })
          .Case<nn::MulOp>([](auto) { return Kind::mul; })
          .Case<nn::MinOp>([](auto) { return Kind::min; })
          .Case<nn::MaxOp>([](auto) { return Kind::max; })
          .Default([](auto) { return std::nullopt; });
  if (!kind || op->getNumOperands() != 2)
    return {};
  int64_t count = getNumElements(op->getResult(0));
  LengthExpression read[2];
  for (auto [operand, result] : llvm::zip_equal(op->getOperands(), read)) {
    int64_t own = getNumElements(operand);
    if (own != 1 && own != count)
      return {};
    result = readValue(lengths, operand, own == 1 ? 0 : i, depth);
  }
  return lengths.combine(*kind, read[0], read[1]);
}

/// Returns element `i` of the flat integers `x` as an expression of the
/// data-dependent sizes; null if the ops that compute it do not show it.
static LengthExpression readValue(const Lengths &lengths, Value x, int64_t i,
                                  int depth) {
  constexpr int mostOps = 64;
  if (depth > mostOps)
    return {};
  for (auto [number, count] : llvm::enumerate(lengths.getCounts()))
    if (count == x)
      return LengthExpression::getLength(unsigned(number));
  if (auto known = readElements(x))
    return !known->isReal() && i < int64_t(known->ints.size())
               ? LengthExpression(known->ints[i])
               : LengthExpression();
  Operation *op = x.getDefiningOp();
  if (!op || !isa<IntegerType>(getElement(x)))
    return {};
  if (isa<nn::CastOp, nn::ReshapeOp>(op))
    return readValue(lengths, op->getOperand(0), i, depth + 1);
  if (auto slice = dyn_cast<nn::SliceOp>(op); slice && getRank(x) == 1)
    return readValue(lengths, slice.getX(),
                     slice.getStarts()[0] + i * slice.getSteps()[0], depth + 1);
  // The product of the sizes of a shape.
  if (auto reduce = dyn_cast<nn::ReduceOp>(op)) {
    int64_t count = getNumElements(reduce.getX());
    if (reduce.getKind() != nn::ReduceKind::prod || getNumElements(x) != 1 ||
        count > mostOps)
      return {};
    LengthExpression all(1);
    for (int64_t each = 0; each < count; ++each)
      all = lengths.combine(LengthExpression::Kind::mul, all,
                            readValue(lengths, reduce.getX(), each, depth + 1));
    return all;
  }
  auto joined = dyn_cast<nn::ConcatOp>(op);
  if (!joined)
    return readArithmetic(lengths, op, i, depth + 1);
  // The elements of the operands follow each other if no axis in front of the
  // joined one has several elements.
  if (product(getShape(x).take_front(size_t(joined.getAxis()))) != 1)
    return {};
  for (Value part : joined.getOperands()) {
    if (i < getNumElements(part))
      return readValue(lengths, part, i, depth + 1);
    i -= getNumElements(part);
  }
  return {};
}

std::optional<FixedPad> readFixedPad(Layer &layer, Value x, Value pads) {
  const Lengths &lengths = layer.getImporter().getLengths();
  if (!x || !pads || lengths.getSizes().empty() ||
      getNumElements(pads) != 2 * getRank(x))
    return std::nullopt;
  using Kind = LengthExpression::Kind;
  FixedPad result;
  for (int64_t axis = 0; axis < getRank(x); ++axis) {
    LengthExpression before = readValue(lengths, pads, 2 * axis, 0),
                     after = readValue(lengths, pads, 2 * axis + 1, 0);
    if (!before || !after || before.getConstant().value_or(-1) < 0 ||
        after.getConstant().value_or(0) < 0)
      return std::nullopt;
    bool isKnown = bool(after.getConstant());
    LengthExpression size =
        isKnown ? LengthExpression(0)
                : lengths.combine(Kind::add, lengths.describe(x, axis),
                                  lengths.combine(Kind::add, before, after));
    if (!size || !size.getConstant() ||
        (!isKnown && (result.axis >= 0 || lengths.getBounds(after).first < 0)))
      return std::nullopt;
    if (!isKnown) {
      result.axis = axis;
      result.size = *size.getConstant();
    }
    result.before.push_back(*before.getConstant());
    result.after.push_back(isKnown ? *after.getConstant() : 0);
  }
  return result.axis >= 0 ? std::optional(result) : std::nullopt;
}

Value padToFixed(Layer &layer, Value x, const FixedPad &pad, double value) {
  const Lengths &lengths = layer.getImporter().getLengths();
  Value count =
      buildLength(lengths.describe(x, pad.axis), layer, lengths.getCounts());
  Type element = layer.getBuilder().getI64Type();
  // The element behind the found ones is the one of the pads.
  Sizes shape(getShape(x));
  shape[pad.axis] = 1;
  Value filled =
      join(layer, {x, layer.splat(value, getElement(x), shape)}, pad.axis);
  Value places = layer.createElementwise(
      "sub", {makeCounts(layer, pad.size, element, 0, 1),
              layer.splat(double(pad.before[pad.axis]), element)});
  Value isPad =
      layer.createElementwise("less", {places, layer.splat(0.0, element)});
  places = layer.createElementwise("min", {places, count});
  places = layer.createElementwise("select", {isPad, count, places});
  Value y = layer.create<nn::GatherOp>(filled, places, pad.axis);
  Sizes others(pad.before);
  llvm::append_range(others, pad.after);
  others[pad.axis] = 0;
  return padWith(layer, y, others, value);
}

Value fillByLengths(Layer &layer, Value sizes, double value, Type element) {
  Lengths &lengths = layer.getImporter().getLengths();
  if (!sizes || lengths.getSizes().empty() || getRank(sizes) != 1)
    return {};
  SmallVector<int64_t> chosen;
  for (unsigned i = 0; i < lengths.getSizes().size(); ++i)
    chosen.push_back(lengths.getValue(i));
  SmallVector<LengthExpression> dims;
  Sizes shape;
  bool varies = false;
  for (int64_t i = 0; i < getNumElements(sizes); ++i) {
    LengthExpression dim = readValue(lengths, sizes, i, 0);
    if (!dim || lengths.getBounds(dim).first < 0)
      return {};
    varies |= !dim.getConstant();
    // Imports at chosen sizes may combine values that no data can produce.
    shape.push_back(std::max<int64_t>(dim.evaluate(chosen), 0));
    dims.push_back(dim);
  }
  if (!varies)
    return {};
  auto isFixed = [](const LengthExpression &dim) {
    return bool(dim.getConstant());
  };
  // A number of rows that is a length is one of a larger constant. For lengths
  // of few values, imports use sizes above the largest one (compiler/sizes).
  constexpr int64_t few = 16;
  if (auto length = dims[0].getLength();
      length && llvm::all_of(llvm::drop_begin(dims), isFixed)) {
    int64_t most = lengths.getSizes()[*length].most;
    shape[0] = most < few ? most + few : most;
    Value y = layer.splat(value, element, shape);
    return y ? lengths.cut(layer, y, *length) : Value();
  }
  Value y = layer.splat(value, element, shape);
  if (!y)
    return {};
  for (auto [axis, dim] : llvm::enumerate(dims))
    lengths.noteDim(y, int64_t(axis), dim);
  lengths.noteFilling(y, value);
  return y;
}

Value fillUp(Layer &layer, ArrayRef<Value> parts, int64_t axis) {
  Lengths &lengths = layer.getImporter().getLengths();
  if (lengths.getSizes().empty() || parts.size() < 2)
    return {};
  LengthExpression total = 0;
  for (Value part : parts) {
    if (getRank(part) != getRank(parts[0]))
      return {};
    total = lengths.combine(LengthExpression::Kind::add, total,
                            lengths.describe(part, axis));
  }
  auto fixed = total ? total.getConstant() : std::nullopt;
  auto filling = lengths.getFilling(parts.back());
  if (!fixed || !filling || lengths.describe(parts.back(), axis).getConstant())
    return {};
  // The filling gets as many elements as the result has, whatever the length
  // in front of it; the result is the beginning of both.
  Value x = join(layer, parts.drop_back(), axis);
  Sizes shape(getShape(x)), starts(getRank(x), 0);
  shape[axis] = *fixed;
  Value y = layer.slice(
      join(layer, {x, layer.splat(*filling, getElement(x), shape)}, axis),
      starts, shape);
  if (!y)
    return {};
  y.getDefiningOp()->setAttr(nn::kVariesAttr, layer.getBuilder().getUnitAttr());
  lengths.noteDim(y, axis, total);
  return y;
}

} // namespace nnc::tensorflow
