//===- FoldAffine.cpp - Scales and offsets of channels into weights -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/FoldAffine.h"

#include "frontends/onnx/quantize/LinearLayer.h"

#include <cmath>

using namespace nnc::onnx;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

namespace {
/// y = x * scale + offset, for each channel.
struct Affine {
  std::vector<double> scales, offsets;
};
} // namespace

static std::optional<Affine> getBatchNorm(GraphIndex &index,
                                          const NodeProto &node) {
  bool isInference =
      node.input_size() == 5 && getInt(node, "training_mode", 0) == 0 &&
      getInt(node, "spatial", 1) == 1 && getInt(node, "is_test", 1) == 1;
  for (int i = 1; i < node.output_size(); ++i)
    isInference = isInference && node.output(i).empty();
  if (!isInference)
    return std::nullopt;
  std::optional<std::vector<float>> operands[4];
  for (int i = 0; i < 4; ++i) {
    operands[i] = index.getFloats(node.input(1 + i));
    if (!operands[i] || operands[i]->size() != operands[0]->size())
      return std::nullopt;
  }
  auto &[gamma, beta, mean, variance] = operands;
  double epsilon = getFloat(node, "epsilon", 1e-5f);
  Affine affine;
  for (size_t c = 0; c < gamma->size(); ++c) {
    double scale = (*gamma)[c] / std::sqrt((*variance)[c] + epsilon);
    affine.scales.push_back(scale);
    affine.offsets.push_back((*beta)[c] - (*mean)[c] * scale);
  }
  return affine;
}

/// Returns what a Mul or Add with `value` does to each of `channels` channels
/// along axis 1 of a tensor of `rank` axes, if it has a constant for each, or
/// one for all.
static std::optional<Affine> getBinary(GraphIndex &index, const NodeProto &node,
                                       const std::string &value,
                                       int64_t channels, size_t rank) {
  if (node.input_size() != 2 || node.input(0) == node.input(1))
    return std::nullopt;
  const std::string &other = node.input(node.input(0) == value ? 1 : 0);
  const auto *tensor = index.getConstant(other);
  auto values = index.getFloats(other);
  if (!values || values->empty())
    return std::nullopt;
  std::vector<int64_t> dims(tensor->dims().begin(), tensor->dims().end());
  if (values->size() == 1 && dims.size() <= rank) {
    values->resize(channels, values->front());
  } else {
    // The shape is [1, C, 1, ...], where the first axis may be missing.
    bool isAligned = dims.size() == rank || dims.size() == rank - 1;
    if (int64_t(values->size()) != channels || !isAligned ||
        dims[dims.size() - rank + 1] != channels)
      return std::nullopt;
  }
  Affine affine{std::vector<double>(channels, 1),
                std::vector<double>(channels, 0)};
  (node.op_type() == "Mul" ? affine.scales : affine.offsets)
      .assign(values->begin(), values->end());
  return affine;
}

/// Folds the node that alone reads the result of `number`, if it can be.
/// Returns the number of that node, or -1.
static int foldReader(GraphIndex &index, FreshNames &names, int number) {
  auto layer = LinearLayer::get(index, number);
  NodeProto &node = index.getNode(number);
  if (!layer || !layer->isBiasKnown || !layer->isPlain ||
      node.op_type() == "MatMul")
    return -1;
  const std::string value = node.output(0);
  int reader = index.getOnlyReader(value);
  if (reader < 0)
    return -1;
  NodeProto &next = index.getNode(reader);
  bool isConv = node.op_type() != "Gemm";
  std::optional<Affine> affine;
  if (!next.domain().empty())
    return -1;
  if (next.op_type() == "BatchNormalization" && next.input(0) == value)
    affine = getBatchNorm(index, next);
  else if (isConv && (next.op_type() == "Mul" || next.op_type() == "Add"))
    affine = getBinary(index, next, value, layer->outputs, layer->dims.size());
  if (!affine || int64_t(affine->scales.size()) != layer->outputs)
    return -1;
  for (size_t i = 0; i < layer->weights.size(); ++i)
    layer->weights[i] = static_cast<float>(
        layer->weights[i] * affine->scales[layer->getOutput(int64_t(i))]);
  layer->bias.resize(layer->outputs);
  for (int64_t c = 0; c < layer->outputs; ++c)
    layer->bias[c] = static_cast<float>(layer->bias[c] * affine->scales[c] +
                                        affine->offsets[c]);
  layer->store(index, names);
  node.set_output(0, next.output(0));
  return reader;
}

int nnc::onnx::foldAffine(ModelProto &model) {
  FreshNames names(model);
  llvm::StringSet<> read, removed;
  int folded = 0;
  // A layer may be followed by several such nodes: Mul, then Add.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    GraphIndex index(model);
    std::vector<int> dead;
    for (int i = 0; i < index.getNumNodes(); ++i) {
      std::string value =
          index.getNode(i).output_size() ? index.getNode(i).output(0) : "";
      int reader = foldReader(index, names, i);
      if (reader < 0)
        continue;
      dead.push_back(reader);
      removed.insert(value);
      read.insert(index.getNode(reader).input().begin(),
                  index.getNode(reader).input().end());
      // The node is emptied and not erased, so that others keep their numbers.
      index.getNode(reader).Clear();
    }
    folded += static_cast<int>(dead.size());
    isChanged = !dead.empty();
    for (auto it = dead.rbegin(); it != dead.rend(); ++it)
      model.mutable_graph()->mutable_node()->DeleteSubrange(*it, 1);
  }
  auto &infos = *model.mutable_graph()->mutable_value_info();
  infos.erase(
      std::remove_if(infos.begin(), infos.end(),
                     [&](const auto &v) { return removed.contains(v.name()); }),
      infos.end());
  removeUnusedConstants(model, read);
  return folded;
}
