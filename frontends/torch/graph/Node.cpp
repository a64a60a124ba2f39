//===- Node.cpp - What a converter sees of a node -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Node.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

Node::Node(GraphImporter &importer, const json::Object &node, Scope &scope,
           Location loc, StringRef name)
    : LayerBuilder(importer.getBuilder(), importer.getProblems(), loc, name),
      importer(importer), node(node), scope(scope),
      names(nnc::torch::getResultNames(node)), results(names.size()) {
  keepsEmpty = importer.keepsEmpty();
}

//===----------------------------------------------------------------------===//
// Promotion of types
//===----------------------------------------------------------------------===//

Node::Operand Node::getOperand(StringRef name) {
  const json::Object *argument = find(name);
  if (argument && (argument->getObject("as_tensor") ||
                   argument->getObject("as_optional_tensor")))
    return {readTensor(*argument, name)};
  Operand operand;
  operand.number = getScalar(name);
  if (!argument)
    refuse(name, "given; it needs a tensor or a number");
  return operand;
}

Type Node::promote(ArrayRef<Operand> operands) {
  // Types of tensors with axes, of tensors without, and of numbers.
  Type ranked[3];
  MLIRContext *context = getBuilder().getContext();
  for (const Operand &operand : operands) {
    if (!operand.tensor && !operand.number)
      return {};
    size_t rank = operand.number ? 2 : getRank(operand.tensor) == 0 ? 1 : 0;
    Type type = getElement(operand.tensor);
    if (operand.number)
      type = getDefaultType(context, operand.number->isReal ? NumberKind::real
                                     : operand.number->isBool
                                         ? NumberKind::boolean
                                         : NumberKind::integer);
    ranked[rank] =
        ranked[rank] ? nnc::torch::promote(ranked[rank], type) : type;
  }
  Type result;
  for (Type type : ranked)
    if (type && (!result || getNumberKind(type) > getNumberKind(result)))
      result = type;
  return result;
}

Value Node::makeScalar(const Scalar &number, Type element) {
  if (!element)
    return {};
  if (number.value)
    return castTo(reshape(number.value, {}), element);
  if (number.length)
    return castTo(
        buildLength(number.length, *this, importer.getLengths().getCounts()),
        element);
  if (auto real = dyn_cast<FloatType>(element))
    return splat(FloatAttr::get(real, number.real), {});
  if (element.isInteger(1))
    return splat(getBuilder().getBoolAttr(number.isReal ? number.real != 0
                                                        : number.integer != 0),
                 {});
  if (number.isReal && !(std::abs(number.real) < 9.2e18))
    return broken("converts the number " + frontends::toString(number.real) +
                  " to an integer");
  int64_t integer =
      number.isReal ? static_cast<int64_t>(number.real) : number.integer;
  return splat(IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                               static_cast<uint64_t>(integer))),
               {});
}

Value Node::castTo(const Operand &operand, Type element) {
  if (!element)
    return {};
  return operand.number ? makeScalar(*operand.number, element)
                        : castTo(operand.tensor, element);
}

Value Node::toReal(Value x) {
  return !x || isa<FloatType>(getElement(x))
             ? x
             : castTo(x, getBuilder().getF32Type());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void Node::setResult(size_t i, Value value) {
  if (i < results.size())
    results[i] = value;
}

bool Node::isRealNumber(size_t i) const {
  const json::Array &outputs = getList(node, "outputs");
  const json::Object *output =
      i < outputs.size() ? outputs[i].getAsObject() : nullptr;
  return output && output->getObject("as_sym_float");
}

Type Node::getStatedType(size_t i) {
  return i < names.size() ? importer.getStatedType(scope, names[i]) : Type();
}

std::optional<SmallVector<int64_t>> Node::getStatedShape(size_t i) {
  return i < names.size() ? importer.getStatedShape(scope, names[i])
                          : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ops that many converters need
//===----------------------------------------------------------------------===//

Value Node::slice(Value x, int64_t axis, int64_t start, int64_t size,
                  int64_t step) {
  if (!x)
    return {};
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x)),
      steps(getRank(x), 1);
  starts[axis] = start;
  sizes[axis] = size;
  steps[axis] = step;
  return create<nn::SliceOp>(x, ArrayRef<int64_t>(starts),
                             ArrayRef<int64_t>(sizes),
                             ArrayRef<int64_t>(steps));
}

Value Node::unsqueeze(Value x, int64_t axis) {
  if (!x)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  shape.insert(shape.begin() + axis, 1);
  return reshape(x, shape);
}

Value Node::createBinary(StringRef op, Value a, double b) {
  return a ? createElementwise(op, {a, splat(b, getElement(a))}) : Value();
}
