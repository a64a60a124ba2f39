//===- Scales.cpp - The scale of each quantized tensor --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Scales.h"

#include <algorithm>

using namespace nnc::onnx;

namespace {

/// Sets of tensors with the same scale.
class Groups {
public:
  void add(const std::string &tensor, const Range &range) {
    groups[tensor] = {range, range.getExtent()};
  }
  /// Adds a tensor to the group of another one, whose range stays.
  void join(const std::string &tensor, const std::string &other) {
    parents[tensor] = other;
  }
  std::string find(std::string tensor) const {
    for (auto it = parents.find(tensor); it != parents.end();
         it = parents.find(tensor))
      tensor = it->second;
    return tensor;
  }
  const Range &getRange(const std::string &tensor) const {
    return groups.at(find(tensor)).range;
  }
  /// Unites the groups of the tensors if the common range is at most twice that
  /// of each member.
  void unite(const std::vector<std::string> &tensors) {
    Group all{{}, groups.at(find(tensors.front())).least};
    for (const std::string &tensor : tensors) {
      const Group &group = groups.at(find(tensor));
      all.range.include(group.range);
      all.least = std::min(all.least, group.least);
    }
    if (all.range.getExtent() > 2 * all.least)
      return;
    std::string first = find(tensors.front());
    for (const std::string &tensor : tensors)
      if (std::string own = find(tensor); own != first)
        parents[own] = first;
    groups[first] = all;
  }

private:
  struct Group {
    Range range;
    double least; ///< extent of the narrowest member
  };
  std::map<std::string, std::string> parents;
  std::map<std::string, Group> groups;
};

} // namespace

std::map<std::string, TensorScale>
nnc::onnx::assignScales(const Plan &plan,
                        const std::map<std::string, Range> &ranges,
                        Storage storage) {
  Groups groups;
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
