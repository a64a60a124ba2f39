//===- Quantizer.cpp - A float ONNX model becomes a quantized one ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Quantizer.h"

#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/quantize/Edit.h"
#include "frontends/onnx/quantize/Equalize.h"
#include "frontends/onnx/quantize/FoldAffine.h"
#include "frontends/onnx/quantize/LinearLayer.h"
#include "frontends/onnx/quantize/PlannedWeights.h"
#include "frontends/onnx/quantize/Prepare.h"
#include "frontends/onnx/quantize/Serialize.h"

using namespace nnc::onnx;
using namespace nnc::quantize;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

struct Quantizer::Implementation {
  ModelProto model;
  QuantizeOptions options;
  std::vector<std::string> nodeNames;
  int folded = 0, equalized = 0;
  int64_t floatBytes = 0;
  std::map<std::string, std::string> unusable;
  std::map<int, std::string> kept;
  std::map<std::string, Range> ranges;
  Plan plan;
  std::map<std::string, TensorScale> scales;
  /// The names of constants that were replaced.
  llvm::StringSet<> replaced;
  /// The original values of corrected biases, with the names of the constants,
  /// by the node of the layer.
  std::map<int, std::pair<std::string, std::vector<float>>> corrected;

  /// Returns the float model. Layers that stay float have their original
  /// biases.
  ModelProto getFloat() const {
    ModelProto copy = model;
    GraphIndex index(copy);
    for (const auto &[node, reason] : kept)
      if (auto found = corrected.find(node); found != corrected.end())
        setFloats(*index.getConstant(found->second.first),
                  found->second.second);
    return copy;
  }

  /// Returns the quantized model. `dequantized` maps the name of each quantized
  /// tensor to the name of its dequantized form.
  ModelProto
  makeWritten(std::map<std::string, std::string> &dequantized) const {
    ModelProto own = getFloat();
    ModelProto quantized =
        makeQuantized(own, plan, scales, options.weights, dequantized);
    removeUnusedConstants(quantized, replaced);
    return quantized;
  }

  /// Excludes tensors whose ranges are not known after ranges were set. Returns
  /// true if there are any.
  bool excludeUnknown() {
    size_t before = unusable.size();
    for (const auto &[tensor, byLayer] : plan.tensors)
      if (!ranges.empty() && !ranges.count(tensor))
        unusable[tensor] = "was not observed in the calibration";
    return unusable.size() != before;
  }

  void replan() {
    GraphIndex index(model);
    do
      plan = makePlan(index, options, unusable, kept);
    while (excludeUnknown());
    scales = assignScales(plan, ranges, options.storage);
  }
};

static constexpr const char *kWritten =
    "the quantized model, or one that observes its values,";

Quantizer::Quantizer(std::unique_ptr<Implementation> implementation)
    : own(std::move(implementation)) {}

Quantizer::~Quantizer() = default;

std::unique_ptr<Quantizer> Quantizer::open(llvm::StringRef path,
                                           llvm::StringRef externalData,
                                           const QuantizeOptions &options,
                                           mlir::MLIRContext &context,
                                           ImportStatus &status) {
  Problems problems(context, path);
  auto own = std::make_unique<Implementation>();
  own->options = options;
  if (auto loaded = loadWhole(path, externalData, problems)) {
    own->model = std::move(*loaded);
    for (const NodeProto &node : own->model.graph().node())
      own->nodeNames.push_back(getName(node));
    raiseOpset(own->model, options.weights.perChannel, problems);
  }
  status = problems.getStatus();
  if (!problems.none())
    return nullptr;
  own->floatBytes = static_cast<int64_t>(own->model.ByteSizeLong());
  own->folded = foldAffine(own->model, options.folds);
  own->equalized = equalize(own->model, options.channelRanges);
  own->replan();
  return std::unique_ptr<Quantizer>(new Quantizer(std::move(own)));
}

const std::vector<std::string> &Quantizer::getNodeNames() const {
  return own->nodeNames;
}

std::string Quantizer::findQuantizedNode() const {
  static constexpr llvm::StringLiteral ops[] = {
      "QuantizeLinear",       "DequantizeLinear", "QLinearConv",
      "QLinearMatMul",        "ConvInteger",      "MatMulInteger",
      "DynamicQuantizeLinear"};
  for (const NodeProto &node : own->model.graph().node())
    if (llvm::is_contained(ops, node.op_type()) ||
        llvm::StringRef(node.op_type()).starts_with("QLinear"))
      return getName(node);
  return "";
}

int Quantizer::getNumFolded() const { return own->folded; }
int Quantizer::getNumEqualized() const { return own->equalized; }
int64_t Quantizer::getFloatBytes() const { return own->floatBytes; }
int64_t Quantizer::getOpset() const {
  return findOpset(own->model.opset_import(), "");
}

int Quantizer::getNumOutputs() const {
  return own->model.graph().output_size();
}

std::vector<LayerSummary> Quantizer::getLayers() const {
  std::vector<LayerSummary> layers;
  for (const PlannedLayer &layer : own->plan.layers) {
    const NodeProto &node = own->model.graph().node(layer.node);
    layers.push_back({layer.node,
                      getName(node),
                      node.op_type(),
                      {layer.inputs.begin(), layer.inputs.end()},
                      layer.output,
                      own->plan.sameAs.count(layer.output) != 0,
                      own->plan.unrounded.count(layer.output) == 0});
  }
  return layers;
}

std::vector<FloatSummary> Quantizer::getFloats() const {
  std::vector<FloatSummary> floats;
  for (const FloatNode &each : own->plan.floats) {
    const NodeProto &node = own->model.graph().node(each.node);
    floats.push_back(
        {getName(node), node.op_type(), each.reason, each.isImportant});
  }
  return floats;
}

std::vector<std::string> Quantizer::getTensors() const {
  std::vector<std::string> names;
  for (const auto &[tensor, byLayer] : own->plan.tensors)
    names.push_back(tensor);
  return names;
}

std::string Quantizer::describeProducer(const std::string &tensor) const {
  for (const NodeProto &node : own->model.graph().node())
    if (llvm::is_contained(node.output(), tensor))
      return "node '" + getName(node) + "' (" + node.op_type() + ")";
  return "an input";
}

bool Quantizer::isSoftmax(const std::string &tensor) const {
  return nnc::onnx::isSoftmax(GraphIndex(own->model), tensor);
}

void Quantizer::setUnusable(const std::string &tensor,
                            const std::string &reason) {
  own->unusable[tensor] = reason;
  own->replan();
}

void Quantizer::keepFloats(const std::map<int, std::string> &nodes) {
  own->kept = nodes;
  own->replan();
}

void Quantizer::setRanges(const std::map<std::string, Range> &ranges) {
  own->ranges = ranges;
  own->replan();
}

Parameters Quantizer::getParameters(const std::string &tensor) const {
  auto found = own->scales.find(tensor);
  return found == own->scales.end() ? Parameters() : found->second.parameters;
}

std::vector<std::string> Quantizer::getEqualizable() const {
  return findEqualizable(own->model);
}

llvm::Expected<std::string>
Quantizer::printObserved(llvm::ArrayRef<std::string> others) const {
  ModelProto copy = own->model;
  forgetShapes(copy);
  for (const std::string &tensor : getTensors())
    addOutput(*copy.mutable_graph(), tensor);
  for (const std::string &tensor : others)
    addOutput(*copy.mutable_graph(), tensor);
  return serialize(copy, kWritten);
}

llvm::Expected<std::string>
Quantizer::printWeightErrors(std::map<std::string, int> &outputs) {
  ModelProto copy = own->model;
  forgetShapes(copy);
  GraphIndex index(copy);
  FreshNames names(copy);
  std::vector<PlannedWeights> weights;
  std::vector<int> entries = quantizePlanned(index, own->plan, own->scales,
                                             own->options.weights, weights);
  for (auto [layer, entry] : llvm::zip(own->plan.layers, entries)) {
    auto known = LinearLayer::get(index, layer.node);
    NodeProto node = copy.graph().node(layer.node);
    bool hasRoom = layer.biasAdd >= 0 || node.op_type() != "MatMul";
    if (layer.weights != 1 || !known || !known->isBiasKnown ||
        !known->isPlain || !hasRoom)
      continue;
    std::vector<float> errors =
        weights[entry].quantized.getReals(weights[entry].shape);
    for (size_t i = 0; i < errors.size(); ++i)
      errors[i] -= known->weights[i];
    std::string base = getName(node);
    std::string difference = names.make(base + "_weight_error"),
                output = names.make(base + "_error");
    addInitializer<float>(*copy.mutable_graph(), difference, TensorProto::FLOAT,
                          known->dims, errors);
    node.set_input(1, difference);
    if (node.input_size() > 2)
      node.mutable_input()->DeleteSubrange(2, node.input_size() - 2);
    node.set_name(names.make(base + "_error"));
    node.set_output(0, output);
    *copy.mutable_graph()->add_node() = std::move(node);
    addOutput(*copy.mutable_graph(), output);
    outputs[output] = layer.node;
  }
  return serialize(copy, kWritten);
}

void Quantizer::correctBias(int node, const std::vector<double> &means) {
  FreshNames names(own->model);
  GraphIndex index(own->model);
  for (const PlannedLayer &layer : own->plan.layers) {
    if (layer.node != node)
      continue;
    if (layer.biasAdd >= 0) {
      NodeProto &add = index.getNode(layer.biasAdd);
      int operand = index.isConstant(add.input(0)) ? 0 : 1;
      const TensorProto &old = *index.getConstant(add.input(operand));
      std::vector<float> bias = nnc::onnx::getFloats(old);
      for (size_t c = 0; c < bias.size(); ++c)
        bias[c] -= static_cast<float>(means[c]);
      std::string name = names.make(add.input(operand) + "_corrected");
      std::vector<int64_t> dims(old.dims().begin(), old.dims().end());
      own->replaced.insert(add.input(operand));
      addInitializer<float>(index.getGraph(), name, TensorProto::FLOAT, dims,
                            bias);
      add.set_input(operand, name);
      own->corrected[node] = {name, nnc::onnx::getFloats(old)};
      // The node of the constant is not removed, because layers are identified
      // by the indices of their nodes.
      return own->replan();
    }
    auto known = LinearLayer::get(index, node);
    known->bias.resize(known->outputs);
    std::vector<float> before = known->bias;
    for (int64_t c = 0; c < known->outputs; ++c)
      known->bias[c] -= static_cast<float>(means[c]);
    known->store(index, names);
    own->corrected[node] = {index.getNode(node).input(2), std::move(before)};
    return own->replan();
  }
}

llvm::Expected<std::string>
Quantizer::printQuantized(std::map<std::string, std::string> *observed) const {
  std::map<std::string, std::string> dequantized;
  ModelProto quantized = own->makeWritten(dequantized);
  if (observed) {
    forgetShapes(quantized);
    for (const auto &[tensor, name] : dequantized)
      addOutput(*quantized.mutable_graph(), name);
    *observed = std::move(dequantized);
  }
  return serialize(quantized, kWritten);
}

llvm::Expected<std::string> Quantizer::printWithoutShapes() const {
  std::map<std::string, std::string> dequantized;
  ModelProto quantized = own->makeWritten(dequantized);
  forgetShapes(quantized);
  return serialize(quantized, kWritten);
}
