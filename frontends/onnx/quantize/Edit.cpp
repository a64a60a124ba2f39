//===- Edit.cpp - Writes quantize and dequantize nodes --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Edit.h"

#include "frontends/onnx/quantize/PlannedWeights.h"

using namespace nnc::onnx;
using namespace nnc::quantize;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {

/// The axis of a single scale. -1 is not used because it means the last axis.
constexpr int64_t kNoAxis = INT64_MIN;

/// An editor that adds quantize and dequantize nodes to a model. Their names
/// are those of onnxruntime, because other tools look for them.
class Editor {
public:
  Editor(ModelProto &model, const Plan &plan,
         const std::map<std::string, TensorScale> &scales,
         const nnc::quantize::WeightPrecision &precision,
         std::map<std::string, std::string> &dequantized)
      : model(model), graph(*model.mutable_graph()), index(model), plan(plan),
        scales(scales), names(model), dequantized(dequantized) {
    layerWeights = quantizePlanned(index, plan, scales, precision, weights);
    stored.resize(weights.size());
    weightNames.resize(weights.size());
  }
  void run();

private:
  struct Pair {
    std::string scale, zeroPoint; ///< names of initializers
  };

  NodeProto &add(const std::string &op, const std::string &name,
                 llvm::ArrayRef<std::string> inputs, const std::string &output);
  const Pair &getScale(const std::string &tensor);
  void quantizeTensor(const std::string &tensor);
  void rewire(NodeProto &node, const PlannedLayer *layer);
  struct Stored {
    std::string integers; ///< name of an initializer
    Pair pair;
  };

  const Stored &storeWeights(int entry);
  std::string dequantizeWeights(int entry);
  void addTable(NodeProto node, int entry);
  std::string dequantizeBias(const PlannedLayer &layer,
                             const std::vector<float> &weightScales);
  /// Adds a DequantizeLinear. Its result is called `output`, or if that is
  /// empty has a name derived from `base`.
  std::string addDequantize(const std::string &base, const std::string &stored,
                            const Pair &pair, int64_t axis,
                            std::string output = "");

  ModelProto &model;
  GraphProto &graph;
  GraphIndex index;
  const Plan &plan;
  const std::map<std::string, TensorScale> &scales;
  FreshNames names;
  std::map<std::string, std::string> &dequantized;
  std::vector<PlannedWeights> weights;
  std::vector<int> layerWeights;
  std::vector<Stored> stored;           ///< integer weights
  std::vector<std::string> weightNames; ///< names of the dequantized weights
  std::map<std::string, Pair> pairs;
  /// The new names of values that a quantized layer computes and that are
  /// outputs of the model. The dequantized values get the original names.
  std::map<std::string, std::string> renamed;
  google::protobuf::RepeatedPtrField<NodeProto> nodes;
};

} // namespace

NodeProto &Editor::add(const std::string &op, const std::string &name,
                       llvm::ArrayRef<std::string> inputs,
                       const std::string &output) {
  NodeProto &node = *nodes.Add();
  node.set_op_type(op);
  node.set_name(name);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

const Editor::Pair &Editor::getScale(const std::string &tensor) {
  const TensorScale &scale = scales.at(tensor);
  auto [entry, isNew] = pairs.try_emplace(scale.source);
  if (!isNew)
    return entry->second;
  Pair &pair = entry->second;
  pair = {names.make(scale.source + "_scale"),
          names.make(scale.source + "_zero_point")};
  const Parameters &parameters = scale.parameters;
  addInitializer<float>(graph, pair.scale, TensorProto::FLOAT, {},
                        parameters.scale);
  auto zero = static_cast<int8_t>(parameters.zeroPoint);
  bool isSigned = parameters.storage == Storage::s8;
  addInitializer<int8_t>(graph, pair.zeroPoint,
                         isSigned ? TensorProto::INT8 : TensorProto::UINT8, {},
                         zero);
  return pair;
}

/// Adds the pair of nodes behind a tensor that has just been computed, if it is
/// rounded.
void Editor::quantizeTensor(const std::string &tensor) {
  if (plan.unrounded.count(tensor)) {
    dequantized[tensor] = tensor;
    return;
  }
  auto found = renamed.find(tensor);
  std::string from = found == renamed.end() ? tensor : found->second;
  std::string to = found == renamed.end()
                       ? names.make(tensor + "_DequantizeLinear_Output")
                       : tensor;
  const Pair &pair = getScale(tensor);
  std::string quantized = names.make(tensor + "_QuantizeLinear_Output");
  add("QuantizeLinear", names.make(tensor + "_QuantizeLinear"),
      {from, pair.scale, pair.zeroPoint}, quantized);
  add("DequantizeLinear", names.make(tensor + "_DequantizeLinear"),
      {quantized, pair.scale, pair.zeroPoint}, to);
  dequantized[tensor] = to;
}

std::string Editor::addDequantize(const std::string &base,
                                  const std::string &stored, const Pair &pair,
                                  int64_t axis, std::string output) {
  if (output.empty())
    output = names.make(base + "_DequantizeLinear_Output");
  NodeProto &node =
      add("DequantizeLinear", names.make(base + "_DequantizeLinear"),
          {stored, pair.scale, pair.zeroPoint}, output);
  if (axis != kNoAxis) {
    auto *attribute = node.add_attribute();
    attribute->set_name("axis");
    attribute->set_type(::onnx::AttributeProto::INT);
    attribute->set_i(axis);
  }
  return output;
}

/// Adds the integers of weights, their scales and zero points, once.
const Editor::Stored &Editor::storeWeights(int entry) {
  Stored &known = stored[entry];
  if (!known.integers.empty())
    return known;
  const PlannedWeights &own = weights[entry];
  known = {
      names.make(own.name + "_quantized"),
      {names.make(own.name + "_scale"), names.make(own.name + "_zero_point")}};
  const std::vector<float> &scale = own.quantized.scales;
  // A scalar is a single scale; a vector has one scale for each index of the
  // axis.
  std::vector<int64_t> dims;
  if (own.axis >= 0)
    dims.push_back(static_cast<int64_t>(scale.size()));
  addInitializer<int8_t>(graph, known.integers, TensorProto::INT8, own.dims,
                         own.quantized.values);
  addInitializer<float>(graph, known.pair.scale, TensorProto::FLOAT, dims,
                        scale);
  addInitializer<int8_t>(graph, known.pair.zeroPoint, TensorProto::INT8, dims,
                         std::vector<int8_t>(scale.size()));
  return known;
}

std::string Editor::dequantizeWeights(int entry) {
  if (weightNames[entry].empty()) {
    const PlannedWeights &own = weights[entry];
    const Stored &known = storeWeights(entry);
    weightNames[entry] = addDequantize(own.name, known.integers, known.pair,
                                       own.axis >= 0 ? own.axis : kNoAxis);
  }
  return weightNames[entry];
}

/// Adds a node that reads rows of an integer table, and a node that dequantizes
/// its result. The elements of a row are the last axis of table and result.
void Editor::addTable(NodeProto node, int entry) {
  const Stored &known = storeWeights(entry);
  std::string output = node.output(0);
  std::string rows = names.make(output + "_quantized");
  node.set_input(0, known.integers);
  node.set_output(0, rows);
  *nodes.Add() = std::move(node);
  addDequantize(output, rows, known.pair,
                weights[entry].axis >= 0 ? -1 : kNoAxis, output);
}

std::string Editor::dequantizeBias(const PlannedLayer &layer,
                                   const std::vector<float> &weightScales) {
  const NodeProto &node = index.getNode(layer.node);
  const std::string &name = node.input(layer.bias);
  const TensorProto &tensor = *index.getConstant(name);
  std::vector<float> biases = nnc::onnx::getFloats(tensor);
  std::vector<float> scale = getBiasScales(
      weightScales, scales.at(layer.inputs.front()).parameters.scale,
      static_cast<int64_t>(biases.size()));
  std::vector<int32_t> values = quantizeBiases(biases, scale);
  // Several layers may share a bias but need different scales for it.
  std::string base = name;
  if (index.getOnlyReader(name) != layer.node)
    base += "_of_" + getName(node);
  std::string integers = names.make(base + "_quantized");
  Pair pair{names.make(base + "_scale"), names.make(base + "_zero_point")};
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  std::vector<int64_t> scaleDims;
  int64_t axis = kNoAxis;
  if (scale.size() > 1) {
    scaleDims.push_back(static_cast<int64_t>(scale.size()));
    axis = static_cast<int64_t>(dims.size()) - 1;
  }
  addInitializer<int32_t>(graph, integers, TensorProto::INT32, dims, values);
  addInitializer<float>(graph, pair.scale, TensorProto::FLOAT, scaleDims,
                        scale);
  addInitializer<int32_t>(graph, pair.zeroPoint, TensorProto::INT32, scaleDims,
                          std::vector<int32_t>(scale.size()));
  return addDequantize(base, integers, pair, axis);
}

/// Changes the operands of a node to dequantized values: all planned operands
/// of a layer; for other nodes, results of quantized layers.
void Editor::rewire(NodeProto &node, const PlannedLayer *layer) {
  for (std::string &input : *node.mutable_input()) {
    auto tensor = plan.tensors.find(input);
    bool isOwn = layer && llvm::is_contained(layer->inputs, input);
    if (tensor != plan.tensors.end() && (isOwn || tensor->second))
      input = dequantized.at(input);
  }
}

void Editor::run() {
  std::vector<const PlannedLayer *> layers(graph.node_size());
  std::vector<int> weightsOf(graph.node_size(), -1);
  for (auto [i, layer] : llvm::enumerate(plan.layers)) {
    layers[layer.node] = &layer;
    weightsOf[layer.node] = layerWeights[i];
  }
  llvm::StringSet<> replaced;
  for (const auto &[tensor, byLayer] : plan.tensors)
    if (byLayer && index.isOutput(tensor) && !plan.unrounded.count(tensor))
      renamed[tensor] = names.make(tensor + "_QuantizeLinear_Input");
  for (const auto &input : graph.input())
    if (plan.isQuantized(input.name()))
      quantizeTensor(input.name());
  for (int i = 0; i < graph.node_size(); ++i) {
    const PlannedLayer *layer = layers[i];
    NodeProto node = graph.node(i);
    rewire(node, layer);
    if (layer && layer->isTable) {
      replaced.insert(node.input(layer->weights));
      addTable(std::move(node), weightsOf[i]);
      if (plan.isQuantized(layer->output))
        quantizeTensor(layer->output);
      continue;
    }
    if (layer && weightsOf[i] >= 0) {
      replaced.insert(node.input(layer->weights));
      node.set_input(layer->weights, dequantizeWeights(weightsOf[i]));
    }
    if (layer && layer->bias >= 0) {
      replaced.insert(node.input(layer->bias));
      node.set_input(
          layer->bias,
          dequantizeBias(*layer, weights[weightsOf[i]].quantized.scales));
    }
    for (std::string &output : *node.mutable_output())
      if (auto found = renamed.find(output); found != renamed.end()) {
        // A node without a name is called by its result.
        if (node.name().empty())
          node.set_name(getName(graph.node(i)));
        output = found->second;
      }
    *nodes.Add() = std::move(node);
    for (const std::string &output : graph.node(i).output())
      if (plan.isQuantized(output))
        quantizeTensor(output);
  }
  graph.mutable_node()->Swap(&nodes);
  removeUnusedConstants(model, replaced);
  // From this IR version on, initializers need not also be inputs.
  if (model.ir_version() < 4)
    model.set_ir_version(4);
}

ModelProto
nnc::onnx::makeQuantized(const ModelProto &model, const Plan &plan,
                         const std::map<std::string, TensorScale> &scales,
                         const nnc::quantize::WeightPrecision &precision,
                         std::map<std::string, std::string> &dequantized) {
  ModelProto copy = model;
  Editor(copy, plan, scales, precision, dequantized).run();
  return copy;
}
