//===- FoldAffine.cpp - Folds scales and offsets into weights -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/FoldAffine.h"

#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/quantize/LinearLayer.h"

using namespace nnc::onnx;
using nnc::quantize::AffineFold;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

/// Returns the index of the node for each name, or -1 if several nodes have the
/// name.
static llvm::StringMap<int> numberNodes(const GraphIndex &index) {
  llvm::StringMap<int> numbers;
  for (int i = 0; i < index.getNumNodes(); ++i)
    if (auto [entry, isNew] =
            numbers.try_emplace(getNodeName(index.getNode(i)), i);
        !isNew)
      entry->second = -1;
  return numbers;
}

/// Returns the indices of the fold's nodes, each of which is the only reader of
/// the result of the previous one. Returns an empty list if the nodes of the
/// model differ.
static std::vector<int> findNodes(const GraphIndex &index, int layer,
                                  const AffineFold &fold) {
  std::vector<int> nodes;
  int last = layer;
  for (const std::string &name : fold.nodes) {
    last = index.getOnlyReader(index.getNode(last).output(0));
    if (last < 0 || index.getNode(last).output_size() == 0 ||
        getNodeName(index.getNode(last)) != name)
      return {};
    nodes.push_back(last);
  }
  return nodes;
}

/// Returns one value per channel. A single value is repeated for all channels.
static std::vector<float> spread(const std::vector<double> &values,
                                 int64_t channels) {
  std::vector<float> all(values.begin(), values.end());
  all.resize(channels, all.front());
  return all;
}

/// Scales the weights of a layer. The factors are doubles, so that the products
/// are rounded only once.
static void scaleWeights(LinearLayer &layer, const AffineFold &fold) {
  for (size_t i = 0; i < layer.weights.size(); ++i) {
    int64_t channel = layer.getOutput(static_cast<int64_t>(i));
    double factor =
        fold.scale.size() == 1 ? fold.scale[0] : fold.scale[channel];
    layer.weights[i] = static_cast<float>(layer.weights[i] * factor);
  }
}

/// Returns the inputs of a model that have default values. Before IR version 4
/// all constants are listed as inputs.
static llvm::StringSet<> listDefaults(const ModelProto &model) {
  llvm::StringSet<> given, defaults;
  if (model.ir_version() < 4)
    return defaults;
  for (const auto &input : model.graph().input())
    given.insert(input.name());
  for (const auto &tensor : model.graph().initializer())
    if (given.contains(tensor.name()))
      defaults.insert(tensor.name());
  return defaults;
}

/// Applies a fold. Returns the nodes that it makes redundant.
static std::vector<int> write(GraphIndex &index, FreshNames &names, int number,
                              const AffineFold &fold,
                              const llvm::StringSet<> &defaults) {
  auto layer = LinearLayer::get(index, number);
  auto fits = [&](const std::vector<double> &values) {
    return values.size() == 1 || int64_t(values.size()) == layer->outputs;
  };
  if (!layer || !layer->isBiasKnown || !layer->isPlain || !fits(fold.scale) ||
      !fits(fold.shift))
    return {};
  std::vector<int> nodes = findNodes(index, number, fold);
  if (nodes.empty())
    return {};
  auto readsDefault = [&](int each) {
    return llvm::any_of(index.getNode(each).input(), [&](const auto &operand) {
      return defaults.contains(operand);
    });
  };
  if (readsDefault(number) || llvm::any_of(nodes, readsDefault))
    return {};
  NodeProto &node = index.getNode(number), &last = index.getNode(nodes.back());
  bool isShifted = llvm::any_of(fold.shift, [](double c) { return c != 0; });
  bool addsAfter = node.op_type() == "MatMul" && isShifted;
  if (addsAfter && nodes.size() == 1 && last.op_type() == "Add")
    return {}; // as it would become
  scaleWeights(*layer, fold);
  if (!addsAfter && (isShifted || !layer->bias.empty()))
    layer->bias = spread(fold.shift, layer->outputs);
  layer->store(index, names);
  if (!addsAfter) {
    node.set_output(0, last.output(0));
    return nodes;
  }
  std::string bias = names.make(getNodeName(last).str() + "_bias");
  addInitializer<float>(index.getGraph(), bias, ::onnx::TensorProto::FLOAT,
                        layer->outputs, spread(fold.shift, layer->outputs));
  last.set_op_type("Add");
  last.clear_attribute();
  last.clear_input();
  last.add_input(node.output(0));
  last.add_input(bias);
  nodes.pop_back();
  return nodes;
}

int nnc::onnx::foldAffine(ModelProto &model,
                          const std::vector<AffineFold> &folds) {
  FreshNames names(model);
  llvm::StringSet<> read, removed;
  std::vector<int> dead;
  GraphIndex index(model);
  llvm::StringMap<int> numbers = numberNodes(index);
  const llvm::StringSet<> defaults = listDefaults(model);
  for (const AffineFold &fold : folds) {
    auto found = numbers.find(fold.layer);
    if (found == numbers.end() || found->second < 0)
      continue;
    // Records the constants that these nodes read, which may have no readers
    // any more.
    auto remember = [&](const std::string &name) {
      if (auto node = numbers.find(name);
          node != numbers.end() && node->second >= 0)
        read.insert(index.getNode(node->second).input().begin(),
                    index.getNode(node->second).input().end());
    };
    remember(fold.layer);
    llvm::for_each(fold.nodes, remember);
    std::string value = index.getNode(found->second).output(0);
    for (int node : write(index, names, found->second, fold, defaults)) {
      removed.insert(value);
      value = index.getNode(node).output(0);
      dead.push_back(node);
    }
  }
  llvm::sort(dead);
  for (int node : llvm::reverse(dead))
    model.mutable_graph()->mutable_node()->DeleteSubrange(node, 1);
  auto &infos = *model.mutable_graph()->mutable_value_info();
  infos.erase(
      std::remove_if(infos.begin(), infos.end(),
                     [&](const auto &v) { return removed.contains(v.name()); }),
      infos.end());
  removeUnusedConstants(model, read);
  return static_cast<int>(dead.size());
}
