//===- Subgraphs.cpp - Functions that nodes call, and their subgraphs -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Body.h"
#include "frontends/common/Module.h"
#include "frontends/onnx/Ops.h"
#include "frontends/onnx/control/Sequences.h"
#include "frontends/onnx/custom/Custom.h"
#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Graph.h"
#include "frontends/onnx/graph/Node.h"
#include "frontends/onnx/graph/ShapeOperands.h"
#include "frontends/onnx/graph/Sort.h"
#include "frontends/onnx/graph/Strings.h"
#include "frontends/onnx/graph/ValueInfo.h"
#include "frontends/onnx/microsoft/Microsoft.h"
#include "frontends/onnx/qnn/QuantizedPorts.h"
#include "frontends/onnx/schema/Schema.h"
#include "frontends/onnx/schema/Types.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

/// The largest nesting depth of branches and loop bodies.
static constexpr size_t kMaxBodies = 8;

SmallVector<Value> GraphImporter::call(FunctionProto &function, NodeProto &node,
                                       Scope &caller, ArrayRef<Value> operands,
                                       const ::onnx::OpSchema *schema) {
  if (int64_t most = problems.getLimits().depth; caller.depth >= most) {
    problems.report(ImportStatus::limit, getLoc(node, caller))
        << node.op_type() << " is called through more than " << most
        << " other functions; --limit depth=N allows more";
    return {};
  }
  if (node.input_size() > function.input_size() ||
      node.output_size() > function.output_size()) {
    problems.report(ImportStatus::broken, getLoc(node, caller))
        << node.op_type() << " has " << node.input_size() << " inputs and "
        << node.output_size() << " results; the function of that name has "
        << function.input_size() << " and " << function.output_size();
    return {};
  }
  Scope::Attributes actual;
  for (auto &attribute : *function.mutable_attribute_proto())
    actual[attribute.name()] = &attribute;
  std::deque<::onnx::AttributeProto> defaults;
  for (const std::string &name : function.attribute())
    if (const auto *value = schema ? getDefault(*schema, name) : nullptr)
      actual[name] = &defaults.emplace_back(*value);
  for (auto &attribute : *node.mutable_attribute()) {
    auto *value = &attribute;
    if (!attribute.ref_attr_name().empty())
      value = caller.actual ? caller.actual->lookup(attribute.ref_attr_name())
                            : nullptr;
    if (value)
      actual[attribute.name()] = value;
  }
  Scope scope;
  scope.imports = &function.opset_import();
  scope.actual = &actual;
  scope.prefix = caller.prefix + getNodeName(node).str() + "/";
  scope.depth = caller.depth + 1;
  for (int i = 0; i < function.input_size(); ++i) {
    bool isAbsent = i >= node.input_size() || node.input(i).empty() ||
                    caller.absent.contains(node.input(i));
    if (isAbsent)
      scope.absent.insert(function.input(i));
    else
      scope.values[function.input(i)] = operands[i];
    if (uint64_t sources = isAbsent ? 0 : findSources(node.input(i), caller))
      scope.sources[function.input(i)] = sources;
  }
  llvm::StringSet<> outputs;
  outputs.insert(function.output().begin(), function.output().end());
  importNodes(*function.mutable_node(), scope, outputs);
  SmallVector<Value> results;
  // A function need not compute results that its caller leaves out.
  for (auto [i, name] : llvm::enumerate(function.output())) {
    bool isUsed = int(i) < node.output_size() && !node.output(i).empty();
    results.push_back(isUsed ? getResult(name, scope) : Value());
  }
  return results;
}

Value GraphImporter::getResult(const std::string &name, Scope &scope) {
  auto value = lookup(name, scope);
  // Beyond the limit of nodes no further node is imported.
  if (!value && imported < problems.getLimits().nodes)
    problems.report(ImportStatus::broken,
                    problems.getLoc(StringRef(scope.prefix).rtrim('/')))
        << "has a result '" << name << "' that nothing computes";
  return value.value_or(Value());
}

bool GraphImporter::inlineGraph(GraphProto &graph, Scope &outer,
                                const std::string &prefix,
                                ArrayRef<Value> inputs, Body *body,
                                SmallVectorImpl<Value> &results) {
  auto leave = llvm::make_scope_exit(
      [&, before = openBodies.size()] { openBodies.truncate(before); });
  if (body)
    openBodies.push_back(body);
  if (openBodies.size() > kMaxBodies) {
    problems.report(ImportStatus::limit, problems.getLoc(prefix))
        << "has loops and branches nested more than " << kMaxBodies
        << " deep that run depending on what the network computes";
    return false;
  }
  if (int64_t most = problems.getLimits().depth; outer.depth >= most) {
    problems.report(ImportStatus::limit, problems.getLoc(prefix))
        << "has subgraphs nested more than " << most
        << " deep; --limit depth=N allows more";
    return false;
  }
  Scope scope;
  scope.parent = &outer;
  scope.imports = outer.imports;
  scope.actual = outer.actual;
  scope.prefix = prefix;
  scope.depth = outer.depth + 1;
  scope.body = body;
  Declarations::Scope declared = getDeclaredTypes(builder.getContext(), graph);
  scope.declared = &declared;
  for (auto &tensor : *graph.mutable_initializer())
    scope.initializers[tensor.name()] = &tensor;
  for (auto [input, value] : llvm::zip(graph.input(), inputs))
    scope.values[input.name()] = value;
  llvm::StringSet<> outputs;
  for (const auto &output : graph.output())
    outputs.insert(output.name());
  importNodes(*graph.mutable_node(), scope, outputs);
  for (const auto &output : graph.output()) {
    results.push_back(getResult(output.name(), scope));
    if (!results.back())
      return false;
  }
  return true;
}
