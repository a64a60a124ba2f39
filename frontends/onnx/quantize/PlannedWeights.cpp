//===- PlannedWeights.cpp - The integer weights and biases of a plan ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/PlannedWeights.h"

#include <algorithm>

using namespace nnc::onnx;
using namespace nnc::quantize;

std::vector<int>
nnc::onnx::quantizePlanned(const GraphIndex &index, const Plan &plan,
                           const std::map<std::string, TensorScale> &scales,
                           const nnc::quantize::WeightPrecision &precision,
                           std::vector<PlannedWeights> &all) {
  std::vector<int> entries;
  std::map<std::pair<std::string, int64_t>, int> known;
  std::vector<std::vector<double>> least;
  for (const PlannedLayer &layer : plan.layers) {
    entries.push_back(-1);
    if (layer.weights < 0)
      continue;
    const auto &node = index.getNode(layer.node);
    const std::string &name = node.input(layer.weights);
    int64_t axis = precision.perChannel ? layer.axis : -1;
    auto [entry, isNew] = known.try_emplace({name, axis}, all.size());
    entries.back() = entry->second;
    if (isNew) {
      const auto *tensor = index.getConstant(name);
      std::vector<int64_t> dims(tensor->dims().begin(), tensor->dims().end());
      ChannelShape shape = ChannelShape::get(dims, axis);
      all.push_back({name, axis, dims, shape, {}});
      least.emplace_back(shape.channels);
    }
    if (layer.bias < 0)
      continue;
    // The scale of shared weights must suit the biases of all layers that share
    // them.
    std::vector<double> &own = least[entries.back()];
    std::vector<double> more =
        getLeastScales(*index.getFloats(node.input(layer.bias)),
                       static_cast<int64_t>(own.size()),
                       scales.at(layer.inputs.front()).parameters.scale);
    std::transform(own.begin(), own.end(), more.begin(), own.begin(),
                   [](double a, double b) { return std::max(a, b); });
  }
  for (size_t i = 0; i < all.size(); ++i)
    all[i].quantized =
        quantizeWeights(*index.getFloats(all[i].name), all[i].shape, least[i],
                        precision.getLargest());
  return entries;
}
