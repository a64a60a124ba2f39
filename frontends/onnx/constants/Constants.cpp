//===- Constants.cpp - Constants and values that follow from shapes -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/moves/Positions.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

Value convertIdentity(Node &node) { return node.getOperand(0); }

Value convertConstant(Node &node) {
  Builder &builder = node.getBuilder();
  if (node.hasAttribute("value"))
    return node.asModelType(node.constant(node.getElements("value")),
                            node.getElementsType("value"));
  if (const auto *value = node.find("value_int"))
    return node.reshape(node.constant(value->i()), {});
  if (auto values = node.getInts("value_ints"))
    return node.constant(*values);
  if (const auto *value = node.find("value_float"))
    return node.splat(value->f(), builder.getF32Type());
  if (const auto *values = node.find("value_floats")) {
    auto type =
        RankedTensorType::get(values->floats_size(), builder.getF32Type());
    return node.constant(makeAttribute(
        {type, {}, {values->floats().begin(), values->floats().end()}}));
  }
  return node.unsupported("holds strings or a sparse tensor, which nnc does "
                          "not handle");
}

/// Returns the result of a ConstantOfShape whose shape is computed from
/// data-dependent sizes. If the number of rows is such a size, it is a slice of
/// a larger constant; otherwise it has the shape `shape`, that of this import.
static Value fillByLengths(Node &node, TypedAttr filling,
                           SmallVector<int64_t> shape) {
  const Lengths &lengths = node.getImporter().getLengths();
  GraphImporter &importer = node.getImporter();
  SmallVector<LengthExpression> dims;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    dims.push_back(node.readLength(0, int64_t(axis)));
    if (shape[axis] < 0 && node.mayBeNegative(0, axis))
      return {};
    // An import at chosen sizes may combine values that no data can produce.
    if (dims.back() && lengths.getBounds(dims.back()).first >= 0)
      shape[axis] = std::max<int64_t>(shape[axis], 0);
  }
  bool isOfRows =
      !dims.empty() && dims[0] && dims[0].getLength() && !importer.isInBody() &&
      llvm::all_of(llvm::drop_begin(dims),
                   [](auto &dim) { return dim && dim.getConstant(); });
  if (isOfRows) {
    shape[0] = node.getRoom(*dims[0].getLength());
    return node.cut(node.splat(filling, shape), dims[0].getLength());
  }
  Value y = node.splat(filling, shape);
  for (auto [axis, dim] : llvm::enumerate(dims))
    importer.noteDim(y, int64_t(axis), dim);
  auto elements = DenseElementsAttr::get(
      RankedTensorType::get({}, filling.getType()), filling);
  if (auto known = readElements(cast<ElementsAttr>(elements)))
    importer.noteFilling(y, known->isReal() ? known->reals[0]
                                            : double(known->ints[0]));
  return y;
}

Value convertConstantOfShape(Node &node) {
  auto shape = node.getConstantInts(0, "shapes");
  if (!shape)
    return {};
  ElementsAttr value = DenseElementsAttr::get(
      RankedTensorType::get({}, node.getBuilder().getF32Type()), 0.0f);
  if (node.hasAttribute("value"))
    value = node.getElements("value");
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  if (!value)
    return {};
  if (!dense || dense.getNumElements() != 1)
    return node.broken("needs one value to fill the tensor with");
  auto filling = cast<TypedAttr>(*dense.value_begin<Attribute>());
  Value result = node.findSources(0) != 0 ? fillByLengths(node, filling, *shape)
                                          : node.splat(filling, *shape);
  if (!node.hasAttribute("value"))
    return result;
  return node.asModelType(result, node.getElementsType("value"));
}

/// Converts a Range whose operands the network computes and whose number of
/// elements the model declares.
static Value computeRange(Node &node) {
  auto shape = node.getDeclaredShape(0);
  if (!shape || shape->size() != 1)
    for (Value operand : node.getOperands())
      if (!readElements(operand))
        return node.needsKnown(operand, "operands");
  Value start = node.getOperand(0), delta = node.getOperand(2);
  Value places = makeSteps(node, (*shape)[0], 1, 0, 1);
  Value steps = node.createElementwise(
      "mul", {node.castTo(places, getElement(start)), node.reshape(delta, {})});
  return node.createElementwise("add", {node.reshape(start, {}), steps});
}

/// Converts a Range whose number of elements is a data-dependent size; returns
/// null for any other Range.
static Value countByLength(Node &node) {
  using Kind = LengthExpression::Kind;
  const Lengths &lengths = node.getImporter().getLengths();
  LengthExpression operands[3];
  bool isFixed = true;
  for (size_t i = 0; i < 3; ++i) {
    isFixed &= node.findSources(i) == 0;
    operands[i] = node.readLength(i);
  }
  auto [start, limit, delta] = operands;
  auto step = delta.getConstant();
  if (isFixed || !step || *step == 0)
    return {};
  LengthExpression span = *step > 0 ? lengths.combine(Kind::sub, limit, start)
                                    : lengths.combine(Kind::sub, start, limit);
  span = lengths.combine(Kind::max, span, 0);
  LengthExpression count = lengths.combine(
      Kind::div, lengths.combine(Kind::add, span, std::abs(*step) - 1),
      std::abs(*step));
  // A Range of constant length or of a sum of lengths is recognized by
  // comparing imports instead (compiler/sizes).
  if (!count ||
      (count.isSum() && !lengths.findEqual(count) && start.getConstant()))
    return {};
  auto length = count.getConstant() ? std::nullopt : node.makeLength(count);
  if (!length)
    return {};
  Value values =
      node.createElementwise("mul", {node.countTo(*length), node.build(delta)});
  return node.castTo(node.createElementwise("add", {values, node.build(start)}),
                     getElement(node.getOperand(0)));
}

Value convertRange(Node &node) {
  Elements operands[3];
  for (size_t i = 0; i < 3; ++i)
    if (getNumElements(node.getOperand(i)) != 1)
      return node.broken("needs operands that are scalars");
  for (size_t i = 0; i < 3; ++i) {
    auto elements = readElements(node.getOperand(i));
    if (!elements)
      return computeRange(node);
    operands[i] = *elements;
  }
  if (Value counted = countByLength(node))
    return counted;
  auto [start, limit, delta] = operands;
  double step = start.isReal() ? delta.reals[0] : delta.ints[0];
  double span = start.isReal() ? limit.reals[0] - start.reals[0]
                               : double(limit.ints[0]) - double(start.ints[0]);
  double count = std::max(0.0, std::ceil(span / step));
  if (!(count <= kMaxDim))
    return node.broken("goes from its start to its limit in " +
                       toString(count) + " steps");
  auto type = RankedTensorType::get(static_cast<int64_t>(count),
                                    start.type.getElementType());
  if (!node.checkSize(type, /*isMade=*/true))
    return {};
  if (type.getNumElements() == 0)
    return node.constant(DenseElementsAttr::get(type, ArrayRef<Attribute>()));
  Elements result{type, {}, {}};
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    if (start.isReal())
      result.reals.push_back(start.reals[0] + static_cast<double>(i) * step);
    else
      result.ints.push_back(start.ints[0] + i * delta.ints[0]);
  return node.constant(makeAttribute(result));
}

/// Converts Dropout. In inference it returns its input and a mask of all true.
Value convertDropout(Node &node) {
  Value x = node.getOperand(0);
  StringRef why;
  bool keepsAll = false;
  if (node.getVersion() < 7) {
    why = node.getBool("is_test") ? "" : "is_test=0";
    keepsAll = node.getFloat("ratio") == 0;
  } else if (node.getOperand(2)) {
    auto mode = node.getConstantInts(2, "training modes");
    if (!mode)
      return {};
    if (mode->size() != 1)
      return node.broken("needs one training mode, not " + Twine(mode->size()));
    why = (*mode)[0] != 0 ? "a true training_mode" : "";
    auto ratio =
        node.getOperand(1) ? readElements(node.getOperand(1)) : std::nullopt;
    keepsAll = ratio && ratio->isReal() && ratio->reals == ArrayRef(0.0);
  }
  if (!why.empty() && !keepsAll)
    return node.unsupported("is in training mode (it has " + why +
                            "); nnc compiles inference: export the model in "
                            "evaluation mode");
  if (node.hasResult(1)) {
    // Until opset 9 the mask had the type of the data.
    Type type = node.getVersion() < 10 ? getElement(x)
                                       : Type(node.getBuilder().getI1Type());
    node.setResult(1, node.splat(1, type, getShape(x)));
  }
  return x;
}

/// Converts a Trilu whose diagonal the network computes.
static Value computeTrilu(Node &node) {
  Value x = node.getOperand(0);
  Value rows = makeSteps(node, getShape(x).end()[-2], 1, 0, 2),
        columns = makeSteps(node, getShape(x).end()[-1], 1, 1, 2);
  Value isKept = node.createElementwise(
      node.getBool("upper") ? "greater_equal" : "less_equal",
      {node.createElementwise("sub", {columns, rows}),
       node.reshape(node.getOperand(1), {})});
  return node.createElementwise("select",
                                {isKept, x, node.splat(0, getElement(x))});
}

/// Converts Trilu: keeps the upper or lower triangle of the last two axes; all
/// other elements become zero.
Value convertTrilu(Node &node) {
  Value x = node.getOperand(0);
  int64_t rank = getRank(x), k = 0;
  if (rank < 2)
    return node.broken("needs an input of 2 axes or more");
  if (node.getOperand(1)) {
    if (getNumElements(node.getOperand(1)) != 1)
      return node.broken("needs one diagonal, not " +
                         Twine(getNumElements(node.getOperand(1))));
    if (!readElements(node.getOperand(1)))
      return getNumElements(x) == 0 ? x : computeTrilu(node);
    auto given = node.getConstantInts(1, "diagonals");
    if (!given)
      return {};
    k = std::clamp<int64_t>((*given)[0], -kMaxDim, kMaxDim);
  }
  int64_t rows = getShape(x)[rank - 2], columns = getShape(x)[rank - 1];
  if (rows * columns > 1 << 24)
    return node.fail(ImportStatus::limit, "masks matrices of " + Twine(rows) +
                                              " by " + Twine(columns));
  bool upper = node.getBool("upper");
  auto type =
      RankedTensorType::get({rows, columns}, node.getBuilder().getI1Type());
  Elements mask{type, {}, {}};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      mask.ints.push_back(upper ? j - i >= k : j - i <= k);
  return node.createElementwise("select", {node.constant(makeAttribute(mask)),
                                           x, node.splat(0, getElement(x))});
}

} // namespace nnc::onnx
