//===- Equalize.cpp - Cross-layer equalization ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Equalize.h"

#include <algorithm>
#include <cmath>

using namespace nnc::quantize;

static std::vector<double> getRanges(const LinearWeights &layer,
                                     bool ofInputs) {
  std::vector<double> ranges(ofInputs ? layer.inputs : layer.outputs);
  for (size_t i = 0; i < layer.weights.size(); ++i) {
    auto element = static_cast<int64_t>(i);
    double &own =
        ranges[ofInputs ? layer.getInput(element) : layer.getOutput(element)];
    own = std::max(own, std::abs(static_cast<double>(layer.weights[i])));
  }
  return ranges;
}

/// Scales the channels between two layers. `largest` is the largest magnitude
/// of all channels before any scaling. Returns true if a factor changed.
static bool scalePair(LayerPair &pair, double largest) {
  LinearWeights &first = *pair.first, &second = *pair.second;
  std::vector<double> writes = getRanges(first, /*ofInputs=*/false),
                      reads = getRanges(second, /*ofInputs=*/true);
  // The limit of the exponents. Larger factors gain nothing, since weights that
  // are 2^8 times smaller than others round to 0 and matter little.
  constexpr int limit = 8;
  std::vector<int> exponents(writes.size());
  bool isChanged = false;
  for (size_t c = 0; c < writes.size(); ++c) {
    double ratio = std::sqrt(writes[c] / reads[c]);
    if (!(writes[c] > 0) || !(reads[c] > 0) || !std::isfinite(ratio))
      continue;
    int wanted = static_cast<int>(std::nearbyint(std::log2(ratio)));
    double &range = pair.ranges[c];
    // A negative exponent lets values grow, at most to the largest of all
    // channels.
    if (range > 0)
      wanted = std::max(
          wanted, static_cast<int>(std::ceil(std::log2(range / largest))));
    int all = std::clamp(pair.exponents[c] + wanted, -limit, limit);
    exponents[c] = all - pair.exponents[c];
    pair.exponents[c] = all;
    range = std::ldexp(range, -exponents[c]);
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

int nnc::quantize::equalize(std::vector<LayerPair> &pairs) {
  std::vector<double> largest;
  for (LayerPair &pair : pairs) {
    pair.exponents.assign(pair.ranges.size(), 0);
    largest.push_back(
        pair.ranges.empty()
            ? 0
            : *std::max_element(pair.ranges.begin(), pair.ranges.end()));
  }
  // In a chain of layers, scaling one pair changes the weights of its
  // neighbours.
  constexpr int sweeps = 20;
  bool isChanged = true;
  for (int sweep = 0; sweep < sweeps && isChanged; ++sweep) {
    isChanged = false;
    for (size_t i = 0; i < pairs.size(); ++i) {
      bool changed = scalePair(pairs[i], largest[i]);
      pairs[i].isScaled = pairs[i].isScaled || changed;
      isChanged = isChanged || changed;
    }
  }
  return static_cast<int>(
      std::count_if(pairs.begin(), pairs.end(),
                    [](const LayerPair &pair) { return pair.isScaled; }));
}

void nnc::quantize::widenRanges(std::vector<double> &ranges,
                                const ChannelShape &shape,
                                llvm::ArrayRef<float> values) {
  ranges.resize(shape.channels);
  for (size_t i = 0; i < values.size(); ++i) {
    double &range = ranges[shape.getChannel(static_cast<int64_t>(i))];
    range = std::max(range, std::abs(static_cast<double>(values[i])));
  }
}
