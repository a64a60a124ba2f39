//===- Plan.cpp - Which nodes and tensors are quantized -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Plan.h"

#include "frontends/onnx/quantize/LayerRules.h"

#include <set>

using namespace nnc::onnx;
using ::onnx::NodeProto;

namespace {

class Planner {
public:
  Planner(GraphIndex &index, const QuantizeOptions &options,
          const std::map<std::string, std::string> &unusable,
          const std::map<int, std::string> &kept)
      : index(index), options(options), unusable(unusable), kept(kept) {}

  Plan run();

private:
  std::optional<Kind> getWantedKind(int node) const;
  bool isDecided(int node) const {
    return kept.count(node) ||
           options.exclude.count(getName(index.getNode(node)));
  }
  bool isQuantized(const std::string &tensor) const {
    return tensors.count(tensor) != 0;
  }
  /// Adds the node to the layers, or the reason why it stays float to
  /// `reasons`. Returns whether it became a layer.
  bool consider(int node, Kind kind);
  std::string describe(PlannedLayer &layer, Kind kind);
  void absorb(PlannedLayer &layer);
  std::string findUnusable(const PlannedLayer &layer) const;
  void markQuantized(const std::string &tensor, bool byLayer);
  void findUnrounded();
  void orderTensors();

  GraphIndex &index;
  const QuantizeOptions &options;
  const std::map<std::string, std::string> &unusable;
  const std::map<int, std::string> &kept;
  Plan plan;
  std::map<int, PlannedLayer> layers;
  std::map<int, std::string> reasons;
  std::map<std::string, bool> tensors; ///< as Plan::tensors
  std::set<int> absorbed;
};

} // namespace

/// Returns the kind of a node if the user wants it to be quantized and no layer
/// has absorbed it; otherwise nullopt.
std::optional<Kind> Planner::getWantedKind(int number) const {
  const NodeProto &node = index.getNode(number);
  bool isWanted = options.ops.empty() || options.ops.count(node.op_type());
  return isWanted && !absorbed.count(number) ? getKind(node) : std::nullopt;
}

/// Absorbs the nodes behind the layer that are computed on its unrounded sums,
/// as long as nothing else reads the values in between.
void Planner::absorb(PlannedLayer &layer) {
  auto getReader = [&]() {
    int reader = index.getOnlyReader(layer.output);
    return reader >= 0 && index.getNode(reader).output_size() == 1 ? reader
                                                                   : -1;
  };
  auto take = [&](int node) {
    layer.absorbed.push_back(node);
    layer.output = index.getNode(node).output(0);
  };
  const NodeProto &node = index.getNode(layer.node);
  if (node.op_type() == "MatMul" && layer.weights == 1 && layer.axis >= 0) {
    int reader = getReader();
    int64_t channels =
        index.getConstant(node.input(1))->dims(static_cast<int>(layer.axis));
    if (reader >= 0 &&
        isBiasAdd(index, index.getNode(reader), layer.output, channels)) {
      layer.biasAdd = reader;
      take(reader);
    }
  }
  int reader = getReader();
  if (reader < 0 || getWantedKind(reader) != Kind::clip || isDecided(reader))
    return;
  const NodeProto &clip = index.getNode(reader);
  bool isKnown = clip.input(0) == layer.output;
  for (int i = 1; i < clip.input_size(); ++i)
    isKnown =
        isKnown && (clip.input(i).empty() || index.isConstant(clip.input(i)));
  if (isKnown)
    take(reader);
}

std::string Planner::findUnusable(const PlannedLayer &layer) const {
  auto names = layer.inputs;
  names.push_back(layer.output);
  for (const std::string &name : names)
    if (auto found = unusable.find(name); found != unusable.end())
      return "'" + name + "' " + found->second;
  return "";
}

void Planner::markQuantized(const std::string &tensor, bool byLayer) {
  bool &entry = tensors[tensor];
  entry = entry || byLayer;
}

/// Lists the tensors in the order in which they are computed.
void Planner::orderTensors() {
  auto add = [&](const std::string &name) {
    if (auto found = tensors.find(name); found != tensors.end())
      plan.tensors.insert({name, found->second});
  };
  for (const auto &input : index.getGraph().input())
    add(input.name());
  for (const NodeProto &node : index.getGraph().node())
    for (const std::string &output : node.output())
      add(output);
}

/// Finds the results of tables, and with QuantizeOptions::unrounded those of
/// products, that no layer reads.
void Planner::findUnrounded() {
  std::set<std::string> read;
  for (const PlannedLayer &layer : plan.layers)
    read.insert(layer.inputs.begin(), layer.inputs.end());
  for (const PlannedLayer &layer : plan.layers)
    if ((layer.isTable ||
         (options.unrounded &&
          getKind(index.getNode(layer.node)) == Kind::linear)) &&
        !read.count(layer.output))
      plan.unrounded.insert(layer.output);
}

/// Returns the reason why the node of the layer stays float, or "".
std::string Planner::describe(PlannedLayer &layer, Kind kind) {
  if (options.exclude.count(getName(index.getNode(layer.node))))
    return "excluded by the command line";
  if (auto found = kept.find(layer.node); found != kept.end())
    return found->second;
  auto isKnown = [&](const std::string &tensor) { return isQuantized(tensor); };
  layer.isTable = kind == Kind::table;
  std::string reason = kind == Kind::linear ? describeLinear(index, layer)
                       : kind == Kind::table
                           ? describeTable(index, layer)
                           : describeOther(index, kind, isKnown, layer);
  if (!reason.empty())
    return reason;
  if (kind == Kind::linear || kind == Kind::join)
    absorb(layer);
  return findUnusable(layer);
}

bool Planner::consider(int number, Kind kind) {
  const NodeProto &node = index.getNode(number);
  PlannedLayer layer;
  layer.node = number;
  layer.output = node.output(0);
  std::string reason = describe(layer, kind);
  // For nodes between float values, or on sizes of tensors, no reason is
  // reported because users do not expect them to be quantized.
  bool isExpected = kind == Kind::linear || isDecided(number) ||
                    llvm::any_of(node.input(), [&](const std::string &input) {
                      return isQuantized(input);
                    });
  if (isExpected && !reason.empty())
    reasons[number] = reason;
  if (!reason.empty())
    return false;
  reasons.erase(number);
  for (int each : layer.absorbed) {
    absorbed.insert(each);
    reasons.erase(each);
  }
  for (const std::string &input : layer.inputs)
    markQuantized(input, false);
  // The result of a table counts as float for the operators that read it.
  markQuantized(layer.output, kind != Kind::table);
  if (kind == Kind::move)
    plan.sameAs[layer.output] = layer.inputs.front();
  layers.emplace(number, std::move(layer));
  return true;
}

Plan Planner::run() {
  // Layers with products are planned first. All other layers are quantized if
  // they read values that these read or write, in any order of the nodes.
  for (int i = 0; i < index.getNumNodes(); ++i)
    if (getWantedKind(i) == Kind::linear)
      consider(i, Kind::linear);
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (int i = 0; i < index.getNumNodes(); ++i)
      if (auto kind = getWantedKind(i); kind && *kind != Kind::linear &&
                                        *kind != Kind::table &&
                                        !layers.count(i))
        isChanged = consider(i, *kind) || isChanged;
  }
  // Tables are planned last, so that no layer is quantized only because it
  // reads a table.
  for (int i = 0; i < index.getNumNodes(); ++i)
    if (getWantedKind(i) == Kind::table)
      consider(i, Kind::table);
  for (auto &[node, layer] : layers) {
    if (getKind(index.getNode(node)) == Kind::concat)
      plan.concats.push_back(static_cast<int>(plan.layers.size()));
    plan.layers.push_back(std::move(layer));
  }
  for (auto &[node, reason] : reasons)
    plan.floats.push_back(
        {node, reason,
         isDecided(node) || getKind(index.getNode(node)) == Kind::linear});
  findUnrounded();
  orderTensors();
  return std::move(plan);
}

Plan nnc::onnx::makePlan(GraphIndex &index, const QuantizeOptions &options,
                         const std::map<std::string, std::string> &unusable,
                         const std::map<int, std::string> &kept) {
  return Planner(index, options, unusable, kept).run();
}
