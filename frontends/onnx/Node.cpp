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

Node::Node(GraphImporter &importer, ::onnx::NodeProto &proto, Scope &scope,
           ArrayRef<Value> operands, const ::onnx::OpSchema &schema)
    : LayerBuilder(importer.getBuilder(), importer.getProblems(),
                   importer.getLoc(proto, scope), proto.op_type()),
      importer(importer), proto(proto), scope(scope), schema(schema),
      operands(operands), results(proto.output_size()) {}

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
  return importer.getWeights().get(*attribute->mutable_t(), getLoc());
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

bool Node::inlineGraph(StringRef name, SmallVectorImpl<Value> &values) {
  return importer.inlineGraph(*findGiven(name)->mutable_g(), scope,
                              scope.prefix + getNodeName(proto).str() + "/",
                              values);
}
