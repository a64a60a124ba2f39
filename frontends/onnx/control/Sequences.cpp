//===- Sequences.cpp - Lists of tensors while importing -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/control/Sequences.h"

#include "frontends/common/Appended.h"
#include "frontends/onnx/control/Loops.h"
#include "frontends/onnx/graph/CarrierTypes.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

bool takesSequences(StringRef op) {
  static constexpr StringLiteral kOps[] = {
      "ConcatFromSequence", "Identity",           "Loop",       "Optional",
      "OptionalGetElement", "OptionalHasElement", "SequenceAt", "SequenceErase",
      "SequenceInsert",     "SequenceLength",     "SequenceMap"};
  return llvm::is_contained(kOps, op);
}

/// Returns a value of a type that exists only during the import.
static Value makeValue(Node &node, Type type, ValueRange parts) {
  return node.getOpBuilder()
      .create<UnrealizedConversionCastOp>(node.getLoc(), type, parts)
      .getResult(0);
}

Value makeSequence(Node &node, ArrayRef<Value> elements) {
  if (llvm::is_contained(elements, Value()))
    return {};
  return makeValue(node,
                   TupleType::get(node.getBuilder().getContext(),
                                  TypeRange(ValueRange(elements))),
                   elements);
}

std::optional<SmallVector<Value>> getElements(Node &node, Value value) {
  if (value && isa<TupleType>(value.getType()))
    return SmallVector<Value>(
        value.getDefiningOp<UnrealizedConversionCastOp>().getOperands());
  node.broken("needs a sequence");
  return std::nullopt;
}

/// Returns the tensor whose slices along its first axis are `values`, in order;
/// null if there is none.
static Value findStacked(ArrayRef<Value> values) {
  Value whole;
  for (auto [i, value] : llvm::enumerate(values)) {
    auto gather = getCarrier(value).getDefiningOp<nn::GatherOp>();
    auto at = gather && gather.getAxis() == 0
                  ? readElements(gather.getIndices())
                  : std::nullopt;
    bool fits = at && at->type.getRank() == 0 && at->ints[0] == int64_t(i) &&
                (!whole || gather.getX() == whole);
    if (!fits)
      return {};
    whole = gather.getX();
  }
  bool isAll = whole && getShape(whole)[0] == int64_t(values.size());
  return isAll ? whole : Value();
}

Value stack(Node &node, ArrayRef<Value> values, int64_t axis) {
  if (Value whole = findStacked(values)) {
    SmallVector<int64_t> order = iota(getRank(whole));
    std::rotate(order.begin(), order.begin() + 1, order.begin() + axis + 1);
    whole = node.transpose(whole, order);
    return whole ? node.asModelType(whole, getElement(values.front())) : whole;
  }
  SmallVector<Value> parts;
  for (Value value : values) {
    if (!isTensor(value))
      return node.unsupported("joins sequences");
    if (value.getType() != values.front().getType())
      return node.unsupported("joins tensors of different types or shapes");
    SmallVector<int64_t> shape(getShape(value));
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(node.reshape(getCarrier(value), shape));
  }
  Value joined = parts.size() == 1
                     ? parts.front()
                     : node.create<nn::ConcatOp>(ValueRange(parts), axis);
  return joined ? node.asModelType(joined, getElement(values.front())) : joined;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

Value convertSequenceEmpty(Node &node) { return makeSequence(node, {}); }

Value convertSequenceConstruct(Node &node) {
  return makeSequence(node, node.getModelOperands());
}

Value convertSequenceLength(Node &node) {
  auto elements = getElements(node, node.getOperand(0));
  if (!elements)
    return {};
  return node.reshape(
      node.constant(ArrayRef<int64_t>{int64_t(elements->size())}), {});
}

/// Returns operand `i`, a position among `count` values, counted from the
/// front, or `otherwise` if the operand is absent. Returns nullopt after an
/// error if it is not constant or out of range.
static std::optional<int64_t> getPosition(Node &node, size_t i, int64_t count,
                                          int64_t otherwise) {
  if (!node.getOperand(i) && otherwise >= 0)
    return otherwise;
  auto known = node.getConstantInts(i, "positions");
  if (!known)
    return std::nullopt;
  int64_t position = known->size() == 1 ? known->front() : count;
  if (position < 0)
    position += count;
  if (position >= 0 && position < count)
    return position;
  node.broken("needs one position within the sequence");
  return std::nullopt;
}

Value convertSequenceAt(Node &node) {
  auto elements = getElements(node, node.getOperand(0));
  Value position = node.getOperand(1);
  if (!elements || !position || elements->empty())
    return node.broken("needs a position in a sequence that is not empty");
  // A position that the network computes selects among tensors of one type.
  if (!readElements(position)) {
    Value all = stack(node, *elements, 0);
    if (!all || getNumElements(position) != 1)
      return {};
    Value picked = node.create<nn::GatherOp>(
        getCarrier(all), node.reshape(position, {}), int64_t(0));
    return node.asModelType(picked, getElement(all));
  }
  auto known = getPosition(node, 1, elements->size(), -1);
  return known ? (*elements)[*known] : Value();
}

Value convertSequenceInsert(Node &node) {
  auto elements = getElements(node, node.getOperand(0));
  if (!elements)
    return {};
  // A negative position counts from the end of the sequence before the
  // insertion.
  int64_t count = elements->size(), position = count;
  if (node.getOperand(2)) {
    auto known = node.getConstantInts(2, "positions");
    if (!known)
      return {};
    position = known->size() == 1 ? known->front() : count + 1;
    if (position < 0)
      position += count;
    if (position < 0 || position > count)
      return node.broken("needs one position within the sequence");
  }
  elements->insert(elements->begin() + position, node.getModelOperands()[1]);
  return makeSequence(node, *elements);
}

Value convertSequenceErase(Node &node) {
  auto elements = getElements(node, node.getOperand(0));
  if (!elements || elements->empty())
    return node.broken("needs a sequence that is not empty");
  int64_t count = elements->size();
  auto position = getPosition(node, 1, count, count - 1);
  if (!position)
    return {};
  elements->erase(elements->begin() + *position);
  return makeSequence(node, *elements);
}

/// Returns the sizes of the parts into which an axis of `size` elements is
/// split.
static std::optional<SmallVector<int64_t>> getPartSizes(Node &node,
                                                        int64_t size) {
  if (!node.getOperand(1))
    return SmallVector<int64_t>(size, 1);
  auto given = node.getConstantInts(1, "sizes of the parts");
  if (!given)
    return std::nullopt;
  SmallVector<int64_t> sizes = *given;
  if (getRank(node.getOperand(1)) == 0) {
    int64_t part = (*given)[0];
    if (part < 1) {
      node.broken("needs parts of a positive size");
      return std::nullopt;
    }
    sizes.clear();
    for (int64_t at = 0; at < size; at += part)
      sizes.push_back(std::min(part, size - at));
  }
  int64_t sum = 0;
  for (int64_t part : sizes)
    sum = part < 0 || part > size ? -1 : sum < 0 ? sum : sum + part;
  if (sum == size)
    return sizes;
  node.broken("needs parts that add up to " + Twine(size));
  return std::nullopt;
}

Value convertSplitToSequence(Node &node) {
  Value x = node.getOperand(0);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  auto sizes = getPartSizes(node, getShape(x)[*axis]);
  if (!sizes)
    return {};
  bool isSqueezed = !node.getOperand(1) && !node.getInt("keepdims", 1);
  SmallVector<int64_t> starts(getRank(x)), steps(getRank(x), 1),
      shape(getShape(x));
  SmallVector<Value> parts;
  for (int64_t size : *sizes) {
    shape[*axis] = size;
    Value part = node.create<nn::SliceOp>(x, starts, shape, steps);
    if (isSqueezed) {
      SmallVector<int64_t> without = shape;
      without.erase(without.begin() + *axis);
      part = node.reshape(part, without);
    }
    parts.push_back(part ? node.asModelType(part, node.getModelType(0)) : part);
    starts[*axis] += size;
  }
  return makeSequence(node, parts);
}

Value convertConcatFromSequence(Node &node) {
  auto elements = getElements(node, node.getOperand(0));
  if (!elements || elements->empty() || !llvm::all_of(*elements, isTensor))
    return node.broken("needs a sequence of tensors that is not empty");
  bool isNew = node.getInt("new_axis") != 0;
  auto axis = node.normalizeAxis(node.getInt("axis"),
                                 getRank(elements->front()) + (isNew ? 1 : 0));
  if (!axis)
    return {};
  if (isNew)
    return stack(node, *elements, *axis);
  SmallVector<Value> parts;
  for (Value element : *elements)
    parts.push_back(getCarrier(element));
  if (parts.size() == 1)
    return elements->front();
  Value whole = findStacked(*elements);
  Value joined = whole ? joinRuns(node, whole, *axis)
                       : node.create<nn::ConcatOp>(ValueRange(parts), *axis);
  return joined ? node.asModelType(joined, getElement(elements->front()))
                : joined;
}

/// Imports the body once for each element.
Value convertSequenceMap(Node &node) {
  auto first = getElements(node, node.getOperand(0));
  if (!first)
    return {};
  LoopForm form;
  form.runs = first->size();
  form.collected = node.getNumResults();
  form.getInputs = [&](Value run, Body *) {
    int64_t number = readElements(run)->ints[0];
    SmallVector<Value> inputs;
    for (Value operand : node.getModelOperands()) {
      if (operand && isa<TupleType>(operand.getType())) {
        auto elements = getElements(node, operand);
        operand =
            number < int64_t(elements->size()) ? (*elements)[number] : Value();
        if (!operand)
          node.broken("needs sequences of one length");
      }
      inputs.push_back(operand);
    }
    return inputs;
  };
  auto found = unrollLoop(node, form);
  if (!found)
    return {};
  for (auto [i, all] : llvm::enumerate(found->all))
    node.setResult(i, makeSequence(node, all));
  return node.getResults().empty() ? Value() : node.getResults()[0];
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

Value convertOptional(Node &node) {
  Value value = node.getNumOperands() ? node.getModelOperands()[0] : Value();
  return value ? value : makeValue(node, node.getBuilder().getNoneType(), {});
}

Value convertOptionalHasElement(Node &node) {
  Value value = node.getOperand(0);
  bool isThere = value && !isa<NoneType>(value.getType());
  return node.splat(isThere, node.getBuilder().getI1Type());
}

Value convertOptionalGetElement(Node &node) {
  Value value = node.getNumOperands() ? node.getModelOperands()[0] : Value();
  if (!value || isa<NoneType>(value.getType()))
    return node.broken("takes the value of an optional that holds none");
  return value;
}

} // namespace nnc::onnx
