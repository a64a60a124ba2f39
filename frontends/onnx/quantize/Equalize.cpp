//===- Equalize.cpp - Cross-layer equalization ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Equalize.h"

#include "frontends/onnx/quantize/LinearLayer.h"

#include <cmath>
#include <map>
#include <set>

using namespace nnc::onnx;
using ::onnx::ModelProto;
using ::onnx::NodeProto;

/// Returns the layer that alone reads the result of layer `number`, perhaps
/// behind a Relu, as its operand 0; -1 if there is none.
static int findNext(GraphIndex &index, int number) {
  std::string value = index.getNode(number).output(0);
  int reader = index.getOnlyReader(value);
  if (reader >= 0 && index.getNode(reader).op_type() == "Relu" &&
      index.getNode(reader).domain().empty()) {
    value = index.getNode(reader).output(0);
    reader = index.getOnlyReader(value);
  }
  return reader >= 0 && index.getNode(reader).input(0) == value ? reader : -1;
}

/// Returns whether the channels of operand 0 and of the result are where all
/// layers of the node's kind have them, so that their numbers say enough.
static bool hasPlainChannels(const NodeProto &node) {
  return node.op_type() == "Conv" || node.op_type() == "ConvTranspose" ||
         (node.op_type() == "Gemm" && getInt(node, "transA", 0) == 0);
}

static std::vector<double> getRanges(const LinearLayer &layer, bool ofInputs) {
  std::vector<double> ranges(ofInputs ? layer.inputs : layer.outputs);
  for (size_t i = 0; i < layer.weights.size(); ++i) {
    auto element = static_cast<int64_t>(i);
    double &own =
        ranges[ofInputs ? layer.getInput(element) : layer.getOutput(element)];
    own = std::max(own, std::abs(static_cast<double>(layer.weights[i])));
  }
  return ranges;
}

/// Scales the channels between two layers. Returns whether any changed.
static bool scalePair(LinearLayer &first, LinearLayer &second) {
  std::vector<double> writes = getRanges(first, /*ofInputs=*/false),
                      reads = getRanges(second, /*ofInputs=*/true);
  // The exponent of the factor of each channel's readers. Larger ones would
  // come near the ends of the range of floats.
  constexpr int limit = 24;
  std::vector<int> exponents(writes.size());
  bool isChanged = false;
  for (size_t c = 0; c < writes.size(); ++c) {
    double ratio = std::sqrt(writes[c] / reads[c]);
    if (!(writes[c] > 0) || !(reads[c] > 0) || !std::isfinite(ratio))
      continue;
    exponents[c] = std::clamp(
        static_cast<int>(std::nearbyint(std::log2(ratio))), -limit, limit);
    isChanged = isChanged || exponents[c] != 0;
  }
  for (size_t i = 0; i < first.weights.size(); ++i)
    first.weights[i] =
        std::ldexp(first.weights[i], -exponents[first.getOutput(int64_t(i))]);
  for (size_t c = 0; c < first.bias.size(); ++c)
    first.bias[c] = std::ldexp(first.bias[c], -exponents[c]);
  for (size_t i = 0; i < second.weights.size(); ++i)
    second.weights[i] =
        std::ldexp(second.weights[i], exponents[second.getInput(int64_t(i))]);
  return isChanged;
}

int nnc::onnx::equalize(ModelProto &model) {
  FreshNames names(model);
  GraphIndex index(model);
  std::map<int, LinearLayer> layers;
  for (int i = 0; i < index.getNumNodes(); ++i)
    if (hasPlainChannels(index.getNode(i)))
      if (auto layer = LinearLayer::get(index, i); layer && layer->isBiasKnown)
        layers.emplace(i, std::move(*layer));
  std::vector<std::pair<int, int>> pairs;
  for (const auto &[node, layer] : layers) {
    int next = findNext(index, node);
    auto found = layers.find(next);
    bool isConv = index.getNode(node).op_type() != "Gemm";
    if (found != layers.end() && found->second.inputs == layer.outputs &&
        isConv == (index.getNode(next).op_type() != "Gemm"))
      pairs.emplace_back(node, next);
  }
  // In a chain of layers each pair changes what its neighbours see.
  constexpr int sweeps = 20;
  std::vector<bool> isScaled(pairs.size());
  bool isChanged = true;
  for (int sweep = 0; sweep < sweeps && isChanged; ++sweep) {
    isChanged = false;
    for (size_t i = 0; i < pairs.size(); ++i) {
      bool changed =
          scalePair(layers.at(pairs[i].first), layers.at(pairs[i].second));
      isScaled[i] = isScaled[i] || changed;
      isChanged = isChanged || changed;
    }
  }
  std::set<int> touched;
  for (size_t i = 0; i < pairs.size(); ++i)
    if (isScaled[i])
      for (int node : {pairs[i].first, pairs[i].second})
        touched.insert(node);
  for (const auto &[node, layer] : layers)
    if (touched.count(node)) {
      // A copy of shared weights changes who reads what.
      GraphIndex current(model);
      layer.store(current, names);
    }
  return static_cast<int>(llvm::count(isScaled, true));
}
