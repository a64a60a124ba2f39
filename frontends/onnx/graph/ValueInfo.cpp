//===- ValueInfo.cpp - What an ONNX graph states about its tensors --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/ValueInfo.h"

#include "frontends/onnx/schema/Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::onnx;
using ::onnx::GraphProto;
using ::onnx::TensorShapeProto;
using ::onnx::ValueInfoProto;

/// Reads a dimension. Some exporters write -1 or a symbol such as "?" for a
/// dimension that has neither size nor name, and others an expression such as
/// "2*length".
static Dim readDim(const TensorShapeProto::Dimension &dim) {
  Dim result;
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    result.size = dim.dim_value();
  StringRef name = dim.dim_param();
  if (llvm::any_of(name, [](char c) { return llvm::isAlpha(c) || c == '_'; }))
    result.symbol = name.str();
  return result;
}

static TensorInfo readInfo(MLIRContext *context, const ValueInfoProto &value) {
  const auto &type = value.type().tensor_type();
  TensorInfo info;
  info.name = value.name();
  if (type.elem_type() != 0) {
    info.element = type.elem_type() == ::onnx::TensorProto::STRING
                       ? getStringType(context)
                       : getElementType(context, type.elem_type());
    info.elementName = getDataTypeName(type.elem_type());
  }
  if (!type.has_shape())
    return info;
  info.dims.emplace();
  for (const auto &dim : type.shape().dim())
    info.dims->push_back(readDim(dim));
  return info;
}

std::vector<TensorInfo> nnc::onnx::getInputs(const GraphProto &graph,
                                             Problems &problems) {
  llvm::StringSet<> initializers;
  for (const auto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  std::vector<TensorInfo> inputs;
  for (const ValueInfoProto &input : graph.input()) {
    if (initializers.contains(input.name()))
      continue;
    Location loc = problems.getLoc(input.name());
    inputs.push_back(readInfo(loc.getContext(), input));
    // Strings in inputs are not known at compile time.
    if (inputs.back().element == getStringType(loc.getContext()))
      inputs.back().element = {};
    if (input.type().has_tensor_type())
      continue;
    bool isNone = input.type().value_case() == ::onnx::TypeProto::VALUE_NOT_SET;
    problems.report(isNone ? ImportStatus::broken : ImportStatus::unsupported,
                    loc)
        << "input '" << input.name() << "' is "
        << (isNone ? "of no type" : "not a tensor; nnc handles only those");
    inputs.back().isReported = true;
  }
  return inputs;
}

void nnc::onnx::dropInitialValues(GraphProto &graph,
                                  const GivenValues &values) {
  auto isInput = [&](const std::string &name) {
    return llvm::any_of(graph.input(), [&](const ValueInfoProto &input) {
      return input.name() == name;
    });
  };
  auto &tensors = *graph.mutable_initializer();
  tensors.erase(llvm::remove_if(tensors,
                                [&](const ::onnx::TensorProto &tensor) {
                                  return values.count(tensor.name()) != 0 &&
                                         isInput(tensor.name());
                                }),
                tensors.end());
}

/// Returns true if the result of a node has the shape of its first operand.
static bool keepsShape(const ::onnx::NodeProto &node) {
  static const llvm::StringSet<> ops = {
      "Abs", "Cast", "CastLike", "Ceil",    "Exp",  "Floor", "Identity",
      "Log", "Neg",  "Relu",     "Sigmoid", "Sqrt", "Tanh"};
  return node.domain().empty() && node.input_size() > 0 &&
         node.output_size() == 1 && ops.contains(node.op_type());
}

Declarations::Scope nnc::onnx::getDeclaredTypes(MLIRContext *context,
                                                const GraphProto &graph) {
  Declarations::Scope scope;
  auto add = [&](const auto &values, StringRef list) {
    for (const ValueInfoProto &value : values)
      if (value.type().has_tensor_type())
        scope.try_emplace(value.name(),
                          Declarations::Entry{readInfo(context, value), list});
  };
  add(graph.output(), "outputs");
  add(graph.value_info(), "value_info");
  add(graph.input(), "inputs");
  for (const ::onnx::NodeProto &node : llvm::reverse(graph.node())) {
    if (!keepsShape(node))
      continue;
    auto found = scope.find(node.output(0));
    if (found == scope.end() || !found->second.info.dims)
      continue;
    Declarations::Entry operand = found->second;
    operand.isDerived = true;
    scope.try_emplace(node.input(0), std::move(operand));
  }
  return scope;
}
