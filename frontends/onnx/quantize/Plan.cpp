//===- Plan.cpp - Which nodes and tensors are quantized -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Plan.h"

#include "frontends/onnx/quantize/LinearLayer.h"

#include <cmath>

using namespace nnc::onnx;
using llvm::StringRef;
using ::onnx::NodeProto;

namespace {

/// How a kind of node is quantized.
enum class Kind {
  linear,  ///< products with weights, or of two activations
  join,    ///< of several quantized tensors
  concat,  ///< a join that only moves elements
  clip,    ///< Relu and Clip, alone or behind another layer
  average, ///< of one quantized tensor, to a range of its own
  move,    ///< moves elements of operand 0, whose range stays
};

struct OpKind {
  llvm::StringLiteral op;
  Kind kind;
};

constexpr OpKind kOps[] = {
    {"Conv", Kind::linear},
    {"ConvTranspose", Kind::linear},
    {"Gemm", Kind::linear},
    {"MatMul", Kind::linear},
    {"Add", Kind::join},
    {"Mul", Kind::join},
    {"Concat", Kind::concat},
    {"Relu", Kind::clip},
    {"Clip", Kind::clip},
    {"AveragePool", Kind::average},
    {"GlobalAveragePool", Kind::average},
    {"MaxPool", Kind::move},
    {"GlobalMaxPool", Kind::move},
    {"Reshape", Kind::move},
    {"Flatten", Kind::move},
    {"Squeeze", Kind::move},
    {"Unsqueeze", Kind::move},
    {"Transpose", Kind::move},
    {"Slice", Kind::move},
    {"DepthToSpace", Kind::move},
    {"SpaceToDepth", Kind::move},
    {"Resize", Kind::move},
};

class Planner {
public:
  Planner(GraphIndex &index, const QuantizeOptions &options,
          const std::map<std::string, std::string> &unusable,
          const std::map<int, std::string> &kept)
      : index(index), options(options), unusable(unusable), kept(kept) {}

  Plan run();

private:
  std::optional<Kind> getKind(int node) const;
  bool isDecided(int node) const {
    return kept.count(node) ||
           options.exclude.count(getName(index.getNode(node)));
  }
  /// Plans a layer of the kind; returns why it cannot be quantized, or "".
  std::string planLinear(PlannedLayer &layer);
  std::string planOthers(PlannedLayer &layer, Kind kind);
  void absorb(PlannedLayer &layer);
  bool isBias(const NodeProto &add, const std::string &sums,
              int64_t channels) const;
  std::string findUnusable(const PlannedLayer &layer) const;
  void markQuantized(const std::string &tensor, bool byLayer);
  void orderTensors();

  GraphIndex &index;
  const QuantizeOptions &options;
  const std::map<std::string, std::string> &unusable;
  const std::map<int, std::string> &kept;
  Plan plan;
  std::map<std::string, bool> tensors;
  std::vector<bool> isAbsorbed;
};

} // namespace

std::string nnc::onnx::getName(const NodeProto &node) {
  return node.name().empty() && node.output_size() ? node.output(0)
                                                   : node.name();
}

const std::vector<std::string> &nnc::onnx::getQuantizableOps() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const OpKind &each : kOps)
      all.push_back(each.op.str());
    return all;
  }();
  return names;
}

std::optional<Kind> Planner::getKind(int number) const {
  const NodeProto &node = index.getNode(number);
  if (!node.domain().empty() || node.output_size() == 0)
    return std::nullopt;
  for (const OpKind &each : kOps)
    if (node.op_type() == each.op)
      return each.kind;
  return std::nullopt;
}

/// Returns whether the node adds one constant for each channel, which are the
/// last axis, to the sums.
bool Planner::isBias(const NodeProto &add, const std::string &sums,
                     int64_t channels) const {
  if (add.op_type() != "Add" || !add.domain().empty() ||
      add.input_size() != 2 || add.input(0) == add.input(1))
    return false;
  const std::string &other = add.input(add.input(0) == sums ? 1 : 0);
  const auto *tensor = index.getConstant(other);
  auto values = index.getFloats(other);
  return values && int64_t(values->size()) == channels &&
         tensor->dims_size() > 0 &&
         tensor->dims(tensor->dims_size() - 1) == channels;
}

/// Takes the nodes behind the layer into it that need its sums unrounded, as
/// long as nothing else reads what lies in between.
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
    if (reader >= 0 && isBias(index.getNode(reader), layer.output, channels)) {
      layer.biasAdd = reader;
      take(reader);
    }
  }
  int reader = getReader();
  if (reader < 0 || getKind(reader) != Kind::clip ||
      (!options.ops.empty() &&
       !options.ops.count(index.getNode(reader).op_type())))
    return;
  const NodeProto &clip = index.getNode(reader);
  bool isKnown = clip.input(0) == layer.output && !kept.count(reader);
  for (int i = 1; i < clip.input_size(); ++i)
    isKnown =
        isKnown && (clip.input(i).empty() || index.isConstant(clip.input(i)));
  if (isKnown && !options.exclude.count(getName(clip)))
    take(reader);
}

std::string Planner::planLinear(PlannedLayer &layer) {
  const NodeProto &node = index.getNode(layer.node);
  const std::string &op = node.op_type();
  if (!hasInput(node, 0) || !hasInput(node, 1))
    return "an operand is missing";
  bool isConstant[2] = {index.isConstant(node.input(0)),
                        index.isConstant(node.input(1))};
  if (isConstant[0] && isConstant[1])
    return "all of its operands are constants";
  if (isConstant[0] && op != "MatMul")
    return "its first operand is a constant";
  bool isConv = op == "Conv" || op == "ConvTranspose";
  if (isConv && !isConstant[1])
    return "its weights are computed";
  for (int i = 0; i < 2; ++i) {
    if (!isConstant[i]) {
      layer.inputs.push_back(node.input(i));
      continue;
    }
    layer.weights = i;
    auto values = index.getFloats(node.input(i));
    if (!values || values->empty())
      return "its weights are not 32-bit floats";
    for (float value : *values)
      if (!std::isfinite(value))
        return "its weights hold values that are not finite";
  }
  auto known =
      layer.weights == 1 ? LinearLayer::get(index, layer.node) : std::nullopt;
  if (isConv && !known)
    return "the shape of its weights does not fit it";
  if (known)
    layer.axis = known->axis;
  if (op == "MatMul" || !hasInput(node, 2))
    return "";
  if (known && known->isBiasKnown && known->isPlain) {
    for (float value : known->bias)
      if (!std::isfinite(value))
        return "its bias holds values that are not finite";
    layer.bias = 2;
  }
  return "";
}

std::string Planner::planOthers(PlannedLayer &layer, Kind kind) {
  const NodeProto &node = index.getNode(layer.node);
  for (int i = 1; i < node.output_size(); ++i)
    if (!node.output(i).empty())
      return "its result number " + std::to_string(i) + " is used";
  bool isJoin = kind == Kind::join || kind == Kind::concat;
  int count = isJoin ? node.input_size() : 1;
  if (kind == Kind::join && node.input_size() == 2 &&
      (index.isConstant(node.input(0)) || index.isConstant(node.input(1))))
    return "an operand is a constant";
  for (int i = 0; i < count; ++i) {
    if (i >= node.input_size() || !tensors.count(node.input(i)))
      return "it reads '" +
             (i < node.input_size() ? node.input(i) : std::string()) +
             "', which is not quantized";
    if (!llvm::is_contained(layer.inputs, node.input(i)))
      layer.inputs.push_back(node.input(i));
  }
  if (node.op_type() == "Resize") {
    const auto *mode = findAttribute(node, "mode");
    if (mode && mode->s() != "nearest")
      return "it interpolates";
  }
  for (int i = 1; kind == Kind::clip && i < node.input_size(); ++i)
    if (!node.input(i).empty() && !index.isConstant(node.input(i)))
      return "its bounds are computed";
  return "";
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

Plan Planner::run() {
  isAbsorbed.resize(index.getNumNodes());
  std::map<int, PlannedLayer> layers;
  std::map<int, std::string> reasons;
  auto isWanted = [&](int i) {
    const NodeProto &node = index.getNode(i);
    return getKind(i) && !isAbsorbed[i] &&
           (options.ops.empty() || options.ops.count(node.op_type()));
  };
  auto consider = [&](int i) {
    Kind kind = *getKind(i);
    const NodeProto &node = index.getNode(i);
    PlannedLayer layer;
    layer.node = i;
    layer.output = node.output(0);
    std::string reason;
    if (options.exclude.count(getName(node)))
      reason = "excluded by the command line";
    else if (auto found = kept.find(i); found != kept.end())
      reason = found->second;
    else
      reason =
          kind == Kind::linear ? planLinear(layer) : planOthers(layer, kind);
    if (reason.empty() && (kind == Kind::linear || kind == Kind::join))
      absorb(layer);
    if (reason.empty())
      reason = findUnusable(layer);
    // Nobody expects that of a node between floats, or between sizes of
    // tensors.
    bool isExpected = kind == Kind::linear || kept.count(i) ||
                      options.exclude.count(getName(node)) ||
                      llvm::any_of(node.input(), [&](const std::string &input) {
                        return tensors.count(input) != 0;
                      });
    if (isExpected)
      reasons[i] = reason;
    if (!reason.empty())
      return false;
    for (int absorbed : layer.absorbed) {
      isAbsorbed[absorbed] = true;
      reasons.erase(absorbed);
    }
    for (const std::string &input : layer.inputs)
      markQuantized(input, false);
    markQuantized(layer.output, true);
    if (kind == Kind::move)
      plan.sameAs[layer.output] = layer.inputs.front();
    layers.emplace(i, std::move(layer));
    return true;
  };
  // Layers with products first: the others are quantized where they read what
  // these read or write, in any order of the nodes.
  for (int i = 0; i < index.getNumNodes(); ++i)
    if (isWanted(i) && getKind(i) == Kind::linear)
      consider(i);
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (int i = 0; i < index.getNumNodes(); ++i)
      if (isWanted(i) && getKind(i) != Kind::linear && !layers.count(i))
        isChanged = consider(i) || isChanged;
  }
  for (auto &[node, layer] : layers) {
    if (getKind(node) == Kind::concat)
      plan.concats.push_back(static_cast<int>(plan.layers.size()));
    plan.layers.push_back(std::move(layer));
  }
  for (auto &[node, reason] : reasons)
    if (!reason.empty())
      plan.floats.push_back(
          {node, reason, isDecided(node) || getKind(node) == Kind::linear});
  orderTensors();
  return std::move(plan);
}

Plan nnc::onnx::makePlan(GraphIndex &index, const QuantizeOptions &options,
                         const std::map<std::string, std::string> &unusable,
                         const std::map<int, std::string> &kept) {
  return Planner(index, options, unusable, kept).run();
}
