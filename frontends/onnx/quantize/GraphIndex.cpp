//===- GraphIndex.cpp - Who computes and who reads each value -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/GraphIndex.h"

#include "frontends/onnx/graph/Sort.h"

#include <cstring>

using namespace nnc::onnx;
using llvm::StringRef;
using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

/// Returns the tensor of a node Constant, or null if its value is not in a
/// tensor.
static TensorProto *getTensor(NodeProto &node) {
  if (node.op_type() != "Constant" || !node.domain().empty())
    return nullptr;
  for (AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == "value")
      return attribute.mutable_t();
  return nullptr;
}

GraphIndex::GraphIndex(ModelProto &model) : graph(*model.mutable_graph()) {
  for (const auto &input : graph.input())
    inputs.insert(input.name());
  for (const auto &output : graph.output())
    outputs.insert(output.name());
  for (TensorProto &tensor : *graph.mutable_initializer()) {
    constants[tensor.name()] = &tensor;
    inputs.erase(tensor.name());
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    NodeProto &node = *graph.mutable_node(i);
    for (const std::string &output : node.output())
      if (!output.empty())
        producers[output] = i;
    if (TensorProto *tensor = getTensor(node))
      constants[node.output(0)] = tensor;
    llvm::StringSet<> own;
    for (const std::string &input : node.input())
      if (!input.empty() && own.insert(input).second)
        readers[input].push_back(i);
    bool hasSubgraph = llvm::any_of(node.attribute(), [](const auto &a) {
      return a.has_g() || a.graphs_size() != 0;
    });
    if (!hasSubgraph)
      continue;
    NodeProto inner = node;
    inner.clear_input();
    collectUses(inner, [&](const std::string &name) { captured.insert(name); });
  }
}

int GraphIndex::getProducer(StringRef value) const {
  auto found = producers.find(value);
  return found == producers.end() ? -1 : found->second;
}

llvm::ArrayRef<int> GraphIndex::getReaders(StringRef value) const {
  auto found = readers.find(value);
  return found == readers.end() ? llvm::ArrayRef<int>() : found->second;
}

int GraphIndex::getOnlyReader(StringRef value) const {
  llvm::ArrayRef<int> all = getReaders(value);
  if (all.size() != 1 || isCaptured(value) || isOutput(value))
    return -1;
  const auto &operands = graph.node(all.front()).input();
  return llvm::count(operands, value.str()) == 1 ? all.front() : -1;
}

TensorProto *GraphIndex::getConstant(StringRef value) const {
  return constants.lookup(value);
}

std::optional<std::vector<float>> GraphIndex::getFloats(StringRef value) const {
  const TensorProto *tensor = getConstant(value);
  if (!tensor || tensor->data_type() != TensorProto::FLOAT)
    return std::nullopt;
  return nnc::onnx::getFloats(*tensor);
}

FreshNames::FreshNames(const ModelProto &model) { collect(model.graph()); }

void FreshNames::collect(const GraphProto &graph) {
  for (const auto *values :
       {&graph.input(), &graph.output(), &graph.value_info()})
    for (const auto &value : *values)
      taken.insert(value.name());
  for (const auto &tensor : graph.initializer())
    taken.insert(tensor.name());
  for (const NodeProto &node : graph.node()) {
    taken.insert(node.name());
    taken.insert(node.output().begin(), node.output().end());
    taken.insert(node.input().begin(), node.input().end());
    for (const AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collect(attribute.g());
      for (const GraphProto &inner : attribute.graphs())
        collect(inner);
    }
  }
}

std::string FreshNames::make(const std::string &wanted) {
  std::string name = wanted;
  for (int i = 2; !taken.insert(name).second; ++i)
    name = wanted + "_" + std::to_string(i);
  return name;
}

std::vector<float> nnc::onnx::getFloats(const TensorProto &tensor) {
  if (!tensor.has_raw_data() || tensor.raw_data().empty())
    return {tensor.float_data().begin(), tensor.float_data().end()};
  std::vector<float> values(tensor.raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor.raw_data().data(),
              values.size() * sizeof(float));
  return values;
}

void nnc::onnx::setFloats(TensorProto &tensor,
                          const std::vector<float> &values) {
  tensor.clear_float_data();
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

void nnc::onnx::removeUnusedConstants(ModelProto &model,
                                      const llvm::StringSet<> &values) {
  GraphIndex index(model);
  GraphProto &graph = *model.mutable_graph();
  llvm::StringSet<> unused;
  for (StringRef value : values.keys())
    if (index.isConstant(value) && index.getReaders(value).empty() &&
        !index.isCaptured(value) && !index.isOutput(value))
      unused.insert(value);
  auto isUnused = [&](const auto &named) {
    return unused.contains(named.name());
  };
  auto erase = [](auto *list, auto condition) {
    list->erase(std::remove_if(list->begin(), list->end(), condition),
                list->end());
  };
  erase(graph.mutable_initializer(), isUnused);
  erase(graph.mutable_input(), isUnused); // as old versions of the format want
  erase(graph.mutable_value_info(), isUnused);
  erase(graph.mutable_node(), [&](const NodeProto &node) {
    return node.op_type() == "Constant" && node.output_size() == 1 &&
           unused.contains(node.output(0));
  });
}

const AttributeProto *nnc::onnx::findAttribute(const NodeProto &node,
                                               StringRef name) {
  for (const AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t nnc::onnx::getInt(const NodeProto &node, StringRef name,
                          int64_t otherwise) {
  const AttributeProto *found = findAttribute(node, name);
  return found ? found->i() : otherwise;
}

float nnc::onnx::getFloat(const NodeProto &node, StringRef name,
                          float otherwise) {
  const AttributeProto *found = findAttribute(node, name);
  return found ? found->f() : otherwise;
}
