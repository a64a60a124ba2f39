//===- Custom.cpp - ONNX operators that the user's functions compute ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/custom/Custom.h"

#include "frontends/onnx/Ops.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/schema/Types.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::AttributeProto;
using ::onnx::NodeProto;

std::vector<std::string> nnc::onnx::getCustomNames(const NodeProto &node) {
  if (node.domain().empty())
    return {node.op_type()};
  return {node.domain() + "::" + node.op_type(), node.op_type()};
}

bool nnc::onnx::isCustom(const NodeProto &node,
                         const std::vector<CustomFunction> &functions) {
  std::vector<std::string> names = getCustomNames(node);
  return !findOp(node.domain(), node.op_type()) &&
         llvm::any_of(functions, [&](const CustomFunction &function) {
           return llvm::is_contained(names, function.op);
         });
}

GivenShapes nnc::onnx::takeCustomShapes(const ::onnx::GraphProto &graph,
                                        const ImportOptions &options,
                                        GivenShapes &shapes) {
  GivenShapes taken;
  for (const NodeProto &node : graph.node())
    if (isCustom(node, options.customs))
      for (const std::string &output : node.output())
        if (auto given = shapes.extract(output))
          taken.insert(std::move(given));
  return taken;
}

/// Returns an attribute of nn.custom, or null for a kind that has none.
static Attribute getValue(const AttributeProto &attribute, Builder &builder) {
  switch (attribute.type()) {
  case AttributeProto::INT:
    return builder.getI64IntegerAttr(attribute.i());
  case AttributeProto::FLOAT:
    return builder.getF32FloatAttr(attribute.f());
  case AttributeProto::STRING:
    return builder.getStringAttr(attribute.s());
  case AttributeProto::INTS:
    return builder.getDenseI64ArrayAttr(
        SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  case AttributeProto::FLOATS:
    return builder.getDenseF32ArrayAttr(SmallVector<float>(
        attribute.floats().begin(), attribute.floats().end()));
  default:
    return {};
  }
}

namespace {
/// The import of one node.
class Conversion {
public:
  Conversion(const NodeProto &node, const Scope &scope, LayerBuilder &layer,
             const llvm::StringMap<int64_t> &symbols, const GivenShapes &shapes)
      : node(node), scope(scope), layer(layer), symbols(symbols),
        shapes(shapes) {}

  /// Add the operands, attributes and results of the node to `call`. Return
  /// false after an error.
  bool addOperands(ArrayRef<Value> operands, Customs::Call &call);
  bool addAttributes(Customs::Call &call);
  bool addResults(Customs::Call &call);

private:
  /// Returns the type of a result, or null after an error if it is not known.
  RankedTensorType getType(const std::string &name);
  bool fail(ImportStatus status, const Twine &why) {
    layer.fail(status, why);
    return false;
  }

  const NodeProto &node;
  const Scope &scope;
  LayerBuilder &layer;
  const llvm::StringMap<int64_t> &symbols;
  const GivenShapes &shapes;
};
} // namespace

bool Conversion::addOperands(ArrayRef<Value> operands, Customs::Call &call) {
  bool isSound = true;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    call.operands.push_back(operand);
    if (!operand) {
      call.reads.push_back(layer.getBuilder().getUnitAttr());
      continue;
    }
    auto type = cast<RankedTensorType>(operand.getType());
    if (hasCarrier(type.getElementType()))
      isSound = fail(ImportStatus::unsupported,
                     "reads '" + node.input(int(i)) + "' of type " +
                         getDataTypeName(getDataType(type.getElementType())) +
                         ", which nnc cannot hand to a function");
    else
      call.reads.push_back(describePlain(type));
  }
  return isSound;
}

bool Conversion::addAttributes(Customs::Call &call) {
  bool isSound = true;
  for (const AttributeProto &own : node.attribute()) {
    const AttributeProto *attribute = &own;
    // In the body of a function, an attribute may refer to one of the call.
    if (!own.ref_attr_name().empty())
      attribute =
          scope.actual ? scope.actual->lookup(own.ref_attr_name()) : nullptr;
    if (!attribute)
      continue;
    if (Attribute value = getValue(*attribute, layer.getBuilder()))
      call.attributes.push_back(
          layer.getBuilder().getNamedAttr(own.name(), value));
    else
      isSound = fail(ImportStatus::unsupported,
                     "has an attribute '" + own.name() + "' of kind " +
                         AttributeProto::AttributeType_Name(attribute->type()) +
                         "; a function can be given integers, floats, texts, "
                         "and lists of integers or floats");
  }
  return isSound;
}

RankedTensorType Conversion::getType(const std::string &name) {
  TensorInfo info;
  if (scope.declared)
    if (auto found = scope.declared->find(name); found != scope.declared->end())
      info = found->second.info;
  std::string what = "has a result '" + name + "' ";
  if (info.elementName.empty()) {
    layer.fail(ImportStatus::unsupported,
               what + "whose element type and shape the model does not state, "
                      "and nnc cannot infer: add it to the graph's value_info");
    return {};
  }
  if (!info.element || hasCarrier(info.element)) {
    layer.fail(ImportStatus::unsupported,
               what + "of type " + info.elementName +
                   ", which nnc cannot hand to a function");
    return {};
  }
  std::string pass = "pass --shape " + name + "=";
  auto given = shapes.find(name);
  if (given == shapes.end() && !info.dims) {
    layer.fail(ImportStatus::unbound,
               what + "whose shape the model does not state: " + pass +
                   "1x3x8 or what it is, or add it to the graph's value_info");
    return {};
  }
  SmallVector<int64_t> shape;
  if (given != shapes.end())
    shape.assign(given->second.begin(), given->second.end());
  if (!info.dims)
    return RankedTensorType::get(shape, info.element);
  bool isOpen = false,
       fits = given == shapes.end() || shape.size() == info.dims->size();
  std::string text;
  for (auto [i, dim] : llvm::enumerate(*info.dims)) {
    std::optional<int64_t> size;
    if (dim.size.value_or(0) > 0)
      size = dim.size;
    else if (auto bound = symbols.find(dim.symbol); bound != symbols.end())
      size = bound->second;
    text += (i ? "x" : "") + (size ? std::to_string(*size) : "?");
    isOpen |= !size;
    if (given == shapes.end())
      shape.push_back(size.value_or(0));
    else
      fits = fits && (!size || *size == shape[i]);
  }
  if (!fits)
    layer.fail(ImportStatus::unbound, what + "of shape " + text +
                                          " in the model, which the given " +
                                          toString(shape) + " does not fit");
  else if (isOpen && given == shapes.end())
    layer.fail(ImportStatus::unbound, what + "with open dimensions: " + pass +
                                          text + " with a number for each '?'");
  else
    return RankedTensorType::get(shape, info.element);
  return {};
}

bool Conversion::addResults(Customs::Call &call) {
  bool isSound = true;
  for (const std::string &name : node.output()) {
    if (name.empty()) {
      isSound = fail(ImportStatus::unsupported,
                     "leaves out a result; a function computes all of them");
      continue;
    }
    RankedTensorType type = getType(name);
    isSound &= bool(type);
    if (type)
      call.writes.push_back(describePlain(type));
  }
  return isSound;
}

SmallVector<Value> nnc::onnx::convertCustom(
    const NodeProto &node, const Scope &scope, ArrayRef<Value> operands,
    LayerBuilder &layer, Customs &customs, const CustomFunction &function,
    const llvm::StringMap<int64_t> &symbols, const GivenShapes &shapes) {
  Customs::Call call;
  call.name = getCustomNames(node).front();
  Conversion conversion(node, scope, layer, symbols, shapes);
  bool isSound = conversion.addOperands(operands, call);
  isSound &= conversion.addAttributes(call);
  isSound &= conversion.addResults(call);
  return isSound ? customs.create(function, call, layer) : SmallVector<Value>();
}
