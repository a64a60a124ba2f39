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
using namespace nnc::quantize;
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

namespace {
/// Two layers, of which the second alone reads what the first computes.
struct Pair {
  int first, second;   ///< nodes
  std::string between; ///< the value that the second reads
  bool isScaled = false;
  /// The exponent of the factor of each channel's readers, of all sweeps.
  std::vector<int> exponents;
};

/// The layers of a model and the pairs of them.
struct Layers {
  std::map<int, LinearLayer> all; ///< by their nodes
  std::vector<Pair> pairs;

  explicit Layers(GraphIndex &index) {
    for (int i = 0; i < index.getNumNodes(); ++i)
      if (hasPlainChannels(index.getNode(i)))
        if (auto layer = LinearLayer::get(index, i);
            layer && layer->isBiasKnown)
          all.emplace(i, std::move(*layer));
    for (const auto &[node, layer] : all) {
      int next = findNext(index, node);
      auto found = all.find(next);
      bool isConv = index.getNode(node).op_type() != "Gemm";
      if (found != all.end() && found->second.inputs == layer.outputs &&
          isConv == (index.getNode(next).op_type() != "Gemm"))
        pairs.push_back({node, next, index.getNode(next).input(0)});
    }
  }
};
} // namespace

/// Scales the channels between two layers, whose largest magnitudes are
/// `ranges`. Returns whether any changed.
static bool scalePair(Pair &pair, Layers &layers, std::vector<double> &ranges,
                      double largest) {
  LinearLayer &first = layers.all.at(pair.first),
              &second = layers.all.at(pair.second);
  std::vector<double> writes = getRanges(first, /*ofInputs=*/false),
                      reads = getRanges(second, /*ofInputs=*/true);
  // Larger factors equalize nothing: weights that are 2^8 times smaller than
  // others round to 0 and matter little.
  constexpr int limit = 8;
  std::vector<int> exponents(writes.size());
  bool isChanged = false;
  for (size_t c = 0; c < writes.size(); ++c) {
    double ratio = std::sqrt(writes[c] / reads[c]);
    if (!(writes[c] > 0) || !(reads[c] > 0) || !std::isfinite(ratio))
      continue;
    int wanted = static_cast<int>(std::nearbyint(std::log2(ratio)));
    // Less than 0 where values grow: at most to the largest of all channels.
    if (ranges[c] > 0)
      wanted = std::max(
          wanted, static_cast<int>(std::ceil(std::log2(ranges[c] / largest))));
    int all = std::clamp(pair.exponents[c] + wanted, -limit, limit);
    exponents[c] = all - pair.exponents[c];
    pair.exponents[c] = all;
    ranges[c] = std::ldexp(ranges[c], -exponents[c]);
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

std::vector<std::string> nnc::onnx::findEqualizable(ModelProto &model) {
  GraphIndex index(model);
  std::vector<std::string> values;
  for (const Pair &pair : Layers(index).pairs)
    values.push_back(pair.between);
  return values;
}

int nnc::onnx::equalize(ModelProto &model, ChannelRanges ranges) {
  FreshNames names(model);
  GraphIndex index(model);
  Layers layers(index);
  std::map<std::string, double> largest;
  for (const auto &[value, channels] : ranges)
    largest[value] = *std::max_element(channels.begin(), channels.end());
  llvm::erase_if(layers.pairs, [&](Pair &pair) {
    size_t channels = size_t(layers.all.at(pair.first).outputs);
    pair.exponents.resize(channels);
    auto known = ranges.find(pair.between);
    return known == ranges.end() || known->second.size() != channels;
  });
  // In a chain of layers each pair changes what its neighbours see.
  constexpr int sweeps = 20;
  bool isChanged = true;
  for (int sweep = 0; sweep < sweeps && isChanged; ++sweep) {
    isChanged = false;
    for (Pair &pair : layers.pairs) {
      bool changed = scalePair(pair, layers, ranges.at(pair.between),
                               largest.at(pair.between));
      pair.isScaled = pair.isScaled || changed;
      isChanged = isChanged || changed;
    }
  }
  std::set<int> touched;
  for (const Pair &pair : layers.pairs)
    if (pair.isScaled)
      touched.insert({pair.first, pair.second});
  for (int node : touched) {
    // A copy of shared weights changes who reads what.
    GraphIndex current(model);
    layers.all.at(node).store(current, names);
  }
  return static_cast<int>(llvm::count_if(
      layers.pairs, [](const Pair &pair) { return pair.isScaled; }));
}
