//===- Scales.cpp - The scale of each quantized value ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Scales.h"

#include "compiler/quantize/ScaleGroups.h"
#include "dialects/qnn/Ranges.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::quantize;

/// Returns the range of a value that has one.
static Range toRange(Value value) {
  auto known = qnn::getRange(value);
  return known ? Range{known->low, known->high} : Range();
}

Plan quantize::planByRanges(func::FuncOp function, const PlanOptions &options) {
  DenseMap<Value, std::string> unusable;
  for (;;) {
    Plan plan = makePlan(function, options, unusable);
    size_t before = unusable.size();
    for (const auto &[value, byLayer] : plan.values) {
      if (plan.sameAs.count(value))
        continue;
      if (!qnn::getRange(value))
        unusable[value] = "was not observed in the calibration";
      else if (!toRange(value).hasScale())
        unusable[value] = "has no range that a scale fits";
    }
    if (unusable.size() == before)
      return plan;
  }
}

DenseMap<Value, Parameters> quantize::assignScales(const Plan &plan,
                                                   Storage storage) {
  DenseMap<Value, int> numbers;
  ScaleGroups<int> groups;
  for (const auto &[value, byLayer] : plan.values)
    numbers[value] = int(numbers.size());
  for (const auto &[value, byLayer] : plan.values) {
    auto same = plan.sameAs.find(value);
    if (same != plan.sameAs.end())
      groups.join(numbers[value], numbers.at(same->second));
    else
      groups.add(numbers[value], toRange(value));
  }
  for (const PlannedLayer &layer : plan.layers) {
    if (layer.kind != Kind::concat)
      continue;
    std::vector<int> together;
    for (Value value : layer.inputs)
      together.push_back(numbers.at(value));
    together.push_back(numbers.at(layer.output));
    groups.unite(together);
  }
  DenseMap<Value, Parameters> scales;
  for (const auto &[value, byLayer] : plan.values)
    scales[value] = getParameters(groups.getRange(numbers.at(value)), storage);
  return scales;
}
