//===- Node.cpp - What a converter sees of an ONNX node -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Node.h"

#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Strings.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::AttributeProto;

Node::Node(GraphImporter &importer, ::onnx::NodeProto &proto, Scope &scope,
           ArrayRef<Value> operands, const ::onnx::OpSchema &schema)
    : LayerBuilder(importer.getBuilder(), importer.getProblems(),
                   importer.getLoc(proto, scope), proto.op_type()),
      importer(importer), proto(proto), scope(scope), schema(schema),
      given(operands), operands(operands), results(proto.output_size()) {
  keepsEmpty = importer.isEmptySample();
  for (Value &operand : this->operands) {
    modelTypes.push_back(getElement(operand));
    texts.push_back(onnx::getTexts(operand));
    operand = getCarrier(operand);
  }
}

std::optional<SmallVector<int64_t>> Node::getDeclaredShape(size_t i) const {
  if (!namesResult(i) || !scope.declared)
    return std::nullopt;
  return importer.getDeclarations().getShape(*scope.declared,
                                             proto.output(static_cast<int>(i)));
}

//===----------------------------------------------------------------------===//
// Narrow types
//===----------------------------------------------------------------------===//

void Node::setResult(size_t i, Value value) {
  Type given = findResultType(schema, i, modelTypes);
  const auto *from = llvm::find_if(texts, [](ArrayAttr list) { return list; });
  if (value && given && from != texts.end() && getElement(value) != given &&
      given == getStringType(given.getContext()))
    value = makeStrings(importer.getBuilder(), value, *from);
  else if (value && given && hasCarrier(given) && getElement(value) != given &&
           getElement(value) == getCarrier(given))
    value = asModelType(value, given);
  results[i] = value;
}

Value Node::asModelType(Value x, Type element) {
  return x && hasCarrier(element)
             ? castFromCarrier(importer.getBuilder(), x, element)
             : x;
}

/// Returns the integer `x` in the bits of `element`, a type of 2 or 4 bits, as
/// an element of its carrier.
static Value keepLowBits(Node &node, Value x, IntegerType element) {
  Type wide = node.getBuilder().getI32Type();
  auto number = [&](double value) { return node.splat(value, wide); };
  double sign = 1 << (element.getWidth() - 1);
  x = node.createElementwise("bit_and",
                             {node.castTo(x, wide), number(2 * sign - 1)});
  if (!element.isUnsigned()) {
    x = node.createElementwise("bit_xor", {x, number(sign)});
    x = node.createElementwise("sub", {x, number(sign)});
  }
  return node.castTo(x, getCarrier(element));
}

Value Node::asNumbers(Value x, Type element) {
  StringRef format = getSmallFormat(element);
  if (format.empty())
    return x;
  Builder &builder = getBuilder();
  return createElementwise(
      "decode_float", castTo(x, builder.getF32Type()),
      builder.getNamedAttr("format", builder.getStringAttr(format)));
}

/// Returns the codes of the numbers `x` in `format`.
static Value encode(Node &node, Value x, StringRef format,
                    SmallRounding rounding) {
  Builder &builder = node.getBuilder();
  SmallVector<NamedAttribute> how = {
      builder.getNamedAttr("format", builder.getStringAttr(format)),
      builder.getNamedAttr("saturate",
                           builder.getBoolAttr(rounding.saturates))};
  if (format == "e8m0")
    how.push_back(builder.getNamedAttr("rounding",
                                       builder.getF64FloatAttr(rounding.e8m0)));
  return node.createElementwise("encode_float",
                                node.castTo(x, builder.getF32Type()), how);
}

Value Node::castToModelType(Value x, Type element, SmallRounding rounding) {
  if (!hasCarrier(element))
    return castTo(x, element);
  Type carrier = getCarrier(element);
  if (StringRef format = getSmallFormat(element); !format.empty())
    return asModelType(castTo(encode(*this, x, format, rounding), carrier),
                       element);
  if (auto integer = dyn_cast<IntegerType>(element))
    return asModelType(keepLowBits(*this, x, integer), element);
  return asModelType(roundToHalf(x, cast<FloatType>(element)), element);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

AttributeProto *Node::findGiven(StringRef name) const {
  for (AttributeProto &attribute : *proto.mutable_attribute()) {
    if (StringRef(attribute.name()) != name)
      continue;
    // In the body of a function, an attribute may refer to one of the call.
    if (attribute.ref_attr_name().empty())
      return &attribute;
    return scope.actual ? scope.actual->lookup(attribute.ref_attr_name())
                        : nullptr;
  }
  return nullptr;
}

bool Node::checkAttributes() {
  auto problem = findAttributeProblem(
      schema, [&](StringRef name) { return findGiven(name); });
  if (problem)
    broken(*problem);
  return !problem;
}

const AttributeProto *Node::find(StringRef name) const {
  const AttributeProto *given = findGiven(name);
  return given ? given : getDefault(schema, name);
}

int64_t Node::getInt(StringRef name, int64_t otherwise) const {
  const AttributeProto *attribute = find(name);
  return attribute ? attribute->i() : otherwise;
}

double Node::getFloat(StringRef name, double otherwise) const {
  const AttributeProto *attribute = find(name);
  return attribute ? attribute->f() : otherwise;
}

SmallVector<double> Node::getReals(StringRef name) const {
  const AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<double>(attribute->floats().begin(),
                             attribute->floats().end());
}

SmallVector<std::string> Node::getStrings(StringRef name) const {
  const AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<std::string>(attribute->strings().begin(),
                                  attribute->strings().end());
}

Value Node::asStrings(Value indices, ArrayRef<std::string> list) {
  return asStrings(indices, makeTexts(getBuilder(), list));
}

Value Node::asStrings(Value indices, ArrayAttr list) {
  return makeStrings(importer.getBuilder(), indices, list);
}

void Node::setColumnNames(size_t i, ArrayRef<std::string> names) {
  if (namesResult(i))
    importer.noteTexts(proto.output(i), names);
}

StringRef Node::getString(StringRef name) const {
  const AttributeProto *attribute = find(name);
  return attribute ? StringRef(attribute->s()) : StringRef();
}

std::optional<SmallVector<int64_t>> Node::getInts(StringRef name) const {
  const AttributeProto *attribute = find(name);
  if (!attribute)
    return std::nullopt;
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

Type Node::getElementsType(StringRef name) {
  AttributeProto *attribute = findGiven(name);
  return getElementType(getBuilder().getContext(), attribute->t().data_type());
}

ElementsAttr Node::getElements(StringRef name) {
  AttributeProto *attribute = findGiven(name);
  if (!attribute)
    return {};
  // Tensors in attributes have no names, so that they get the name of the
  // result.
  if (attribute->t().name().empty() && hasResult(0))
    attribute->mutable_t()->set_name(proto.output(0));
  return importer.getWeights().get(*attribute->mutable_t(), getLoc());
}

std::optional<unsigned> Node::addLength(int64_t most, Value count,
                                        ArrayRef<size_t> results,
                                        const LengthExpression &limit) {
  const size_t *named = llvm::find_if(results, [&](size_t i) {
    return namesResult(i) && scope.outputs->contains(proto.output(int(i)));
  });
  if (named == results.end())
    named = llvm::find_if(results, [&](size_t i) { return hasResult(i); });
  size_t result = named == results.end() ? results.front() : *named;
  FoundSize size{getResultName(result), most};
  if (limit && !limit.getConstant())
    size.within = importer.getLengths().findOuter(limit);
  return importer.addLength(*this, size, count);
}

LengthExpression Node::readLength(size_t i, int64_t element) {
  if (!getOperand(i))
    return {};
  LengthReader reader(importer, scope);
  LengthExpression length = reader.read(proto.input(int(i)), element);
  return reader.bases.empty() ? length : LengthExpression();
}

std::optional<unsigned> Node::makeLength(const LengthExpression &number,
                                         size_t result) {
  const Lengths &lengths = importer.getLengths();
  if (!number || importer.isInBody() || lengths.getBounds(number).first < 0)
    return std::nullopt;
  if (auto length = lengths.findEqual(number))
    return length;
  const std::string name = getResultName(hasResult(result) ? result : 0);
  return lengths.mayBeNext(name)
             ? importer.addComputedLength(*this, name, number)
             : std::nullopt;
}

bool Node::mayBeNegative(size_t i, size_t element) {
  LengthExpression size = readLength(i, int64_t(element));
  if (!size || size.getConstant())
    return false;
  int64_t least = importer.getLengths().getBounds(size).first;
  if (least >= 0)
    return false;
  unsupported("has an axis of " + Twine(least) +
              " elements at a number of rows that data may find; take the "
              "larger one of that size and 0 (Max)");
  return true;
}

int64_t Node::getRoom(unsigned length) const {
  // For a length with few values, imports use sizes above its largest value
  // (compiler/sizes).
  constexpr int64_t few = 16;
  int64_t most = importer.getLengths().getSizes()[length].most;
  return most < few ? most + few : most;
}

Value Node::countTo(unsigned length) {
  return cut(constant(iota(getRoom(length))), length);
}

//===----------------------------------------------------------------------===//
// Axes and subgraphs
//===----------------------------------------------------------------------===//

bool Node::getAxes(size_t i, StringRef name, int64_t rank,
                   std::optional<SmallVector<int64_t>> &axes) {
  if (getOperand(i)) {
    axes = getConstantInts(i, "axes");
    if (!axes)
      return false;
  } else {
    axes = getInts(name);
  }
  if (!axes || axes->empty()) {
    axes.reset();
    return true;
  }
  return normalizeAxes(*axes, rank);
}

::onnx::GraphProto &Node::getGraph(StringRef name) {
  return *findGiven(name)->mutable_g();
}

std::string Node::getPath() const {
  return scope.prefix + getNodeName(proto).str();
}

bool Node::inlineGraph(StringRef name, ArrayRef<Value> inputs, Body *body,
                       SmallVectorImpl<Value> &results) {
  return importer.inlineGraph(getGraph(name), scope, getPath() + "/", inputs,
                              body, results);
}
