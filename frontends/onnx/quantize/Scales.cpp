//===- Scales.cpp - The scale of each quantized tensor --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Scales.h"

#include "compiler/quantize/ScaleGroups.h"

using namespace nnc::onnx;
using namespace nnc::quantize;

std::map<std::string, TensorScale>
nnc::onnx::assignScales(const Plan &plan,
                        const std::map<std::string, Range> &ranges,
                        Storage storage) {
  ScaleGroups<std::string> groups;
  for (const auto &[tensor, byLayer] : plan.tensors) {
    auto same = plan.sameAs.find(tensor);
    auto range = ranges.find(tensor);
    if (same != plan.sameAs.end())
      groups.join(tensor, same->second);
    else
      groups.add(tensor, range == ranges.end() ? Range() : range->second);
  }
  for (int concat : plan.concats) {
    const PlannedLayer &layer = plan.layers[concat];
    std::vector<std::string> tensors(layer.inputs.begin(), layer.inputs.end());
    tensors.push_back(layer.output);
    groups.unite(tensors);
  }
  std::map<std::string, TensorScale> scales;
  for (const auto &[tensor, byLayer] : plan.tensors)
    scales[tensor] = {getParameters(groups.getRange(tensor), storage),
                      groups.find(tensor)};
  return scales;
}
