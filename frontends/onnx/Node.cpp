//===- Node.cpp - What a converter sees of an ONNX node -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Node.h"

#include "frontends/onnx/Check.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::AttributeProto;

SmallVector<int64_t> nnc::onnx::iota(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

int64_t nnc::onnx::product(ArrayRef<int64_t> sizes) {
  return ShapedType::getNumElements(sizes);
}

Node::Node(GraphImporter &importer, ::onnx::NodeProto &proto, Scope &scope,
           ArrayRef<Value> operands, const ::onnx::OpSchema &schema)
    : importer(importer), proto(proto), scope(scope),
      loc(importer.getLoc(proto, scope)), schema(schema), operands(operands),
      results(proto.output_size()) {}

Value Node::fail(ImportStatus status, const Twine &why) {
  importer.getProblems().report(status, loc, getOp()) << getOp() << " " << why;
  return {};
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

AttributeProto *Node::findGiven(StringRef name) const {
  for (AttributeProto &attribute : *proto.mutable_attribute()) {
    if (StringRef(attribute.name()) != name)
      continue;
    // In the body of a function it may stand for one of the call's.
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

ElementsAttr Node::getElements(StringRef name) {
  AttributeProto *attribute = findGiven(name);
  if (!attribute)
    return {};
  // Tensors in attributes have no names of their own; the result's is known.
  if (attribute->t().name().empty() && hasResult(0))
    attribute->mutable_t()->set_name(proto.output(0));
  return importer.getWeights().get(*attribute->mutable_t(), loc);
}

//===----------------------------------------------------------------------===//
// Known values
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> Node::getConstantInts(size_t i,
                                                          StringRef what) {
  std::optional<Elements> elements;
  if (Value operand = getOperand(i))
    elements = readElements(operand);
  if (elements && !elements->isReal())
    return elements->ints;
  unsupported("needs " + what +
              " that are known when compiling; here they are computed from the "
              "network's inputs");
  return std::nullopt;
}

std::optional<SmallVector<double>> Node::getConstantReals(size_t i,
                                                          StringRef what) {
  std::optional<Elements> elements;
  if (Value operand = getOperand(i))
    elements = readElements(operand);
  if (elements && elements->isReal())
    return elements->reals;
  if (elements)
    return SmallVector<double>(elements->ints.begin(), elements->ints.end());
  unsupported("needs " + what +
              " that are known when compiling; here they are computed from the "
              "network's inputs");
  return std::nullopt;
}

std::optional<int64_t> Node::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  broken("has axis " + Twine(axis) + " of a tensor of " + Twine(rank) +
         " axes");
  return std::nullopt;
}

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
  for (int64_t &axis : *axes) {
    auto normal = normalizeAxis(axis, rank);
    if (!normal)
      return false;
    axis = *normal;
  }
  SmallVector<int64_t> sorted(*axes);
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end())
    return true;
  broken("names an axis twice");
  return false;
}

bool Node::inlineGraph(StringRef name, SmallVectorImpl<Value> &values) {
  return importer.inlineGraph(*findGiven(name)->mutable_g(), scope,
                              scope.prefix + getNodeName(proto).str() + "/",
                              values);
}
