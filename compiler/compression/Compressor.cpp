//===- Compressor.cpp - Compression of a model's weights ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Compressor.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace nnc;
using namespace nnc::compression;

Compressor::~Compressor() = default;

bool Compressor::canBeFiner() const {
  return options.clusters != 0 && options.clusters < stored::kMostValues;
}

void Compressor::addWeight(WeightSummary summary,
                           std::vector<ObservedUse> uses) {
  ObservedInputs found;
  for (const ObservedUse &use : uses)
    if (use.vectors.groups != uses.front().vectors.groups)
      summary.unobserved = kDifferentForms;
  if (summary.unobserved.empty() && !uses.empty()) {
    // Spans end where groups of the pattern end. If the groups do not fill a
    // run of columns, spans end where runs end.
    int64_t multiple = 1, columns = summary.shape.columns;
    if (options.pattern) {
      int64_t run = summary.shape.getRunColumns();
      multiple = options.pattern->group;
      if (run != columns && run % multiple != 0)
        multiple = run;
    }
    found.moments = compression::InputMoments(uses.front().vectors.groups,
                                              columns, multiple);
    found.uses = std::move(uses);
  }
  inputs.push_back(std::move(found));
  summaries.push_back(std::move(summary));
}

std::vector<std::string> Compressor::getObserved() const {
  std::vector<std::string> tensors;
  for (const ObservedInputs &each : inputs)
    for (const ObservedUse &use : each.uses)
      if (!llvm::is_contained(tensors, use.tensor))
        tensors.push_back(use.tensor);
  return tensors;
}

void Compressor::observe(const std::string &tensor,
                         llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<float> values, size_t samples) {
  for (ObservedInputs &each : inputs)
    for (const ObservedUse &use : each.uses)
      if (use.tensor == tensor)
        use.vectors.add(
            shape, values,
            each.moments.getMostVectors() / static_cast<int64_t>(samples) + 1,
            each.moments);
}

std::optional<compression::OutputErrors> nnc::compression::compressMatrix(
    std::vector<float> &matrix, const stored::MatrixShape &shape,
    llvm::ArrayRef<float> scales, const compression::WeightGoal &goal,
    const compression::InputMoments *moments) {
  std::optional<compression::OutputErrors> errors;
  if (moments)
    errors = compression::compressBySecondOrder(matrix, shape, scales, *moments,
                                                goal);
  else
    compression::compressByMagnitude(matrix, shape, scales, goal);
  // A mask or a table may leave negative zeros, which would be stored as a
  // value of their own.
  for (float &value : matrix)
    if (value == 0)
      value = 0;
  return errors;
}

const Compressor::CompressedWeight &
Compressor::getCompressed(size_t weight, Treatment treatment) const {
  auto [entry, isNew] = known.try_emplace({weight, treatment});
  CompressedWeight &result = entry->second;
  if (!isNew)
    return result;
  result.matrix = getOwn(weight);
  bool isObserved = !inputs[weight].uses.empty();
  if (treatment == Treatment::none) {
    if (isObserved)
      result.errors = compression::OutputErrors();
    return result;
  }
  compression::WeightGoal goal{options.sparsity, options.pattern,
                               options.clusters};
  if (treatment == Treatment::finer)
    goal.clusters = static_cast<int>(stored::kMostValues);
  result.errors =
      compressMatrix(result.matrix, summaries[weight].shape, getScales(weight),
                     goal, isObserved ? &inputs[weight].moments : nullptr);
  return result;
}

const std::vector<float> &Compressor::getMatrix(size_t weight,
                                                Treatment treatment) const {
  return getCompressed(weight, treatment).matrix;
}

CompressedSizes Compressor::measure(size_t weight) const {
  std::vector<float> before = getOwn(weight);
  const CompressedWeight &compressed = getCompressed(weight);
  const std::vector<float> &after = compressed.matrix;
  CompressedSizes sizes;
  sizes.outputErrors = compressed.errors;
  sizes.isDense = !compressed.errors || inputs[weight].moments.isDense();
  sizes.stored = stored::StoredSizes::get(after, summaries[weight].shape,
                                          getElementBytes(weight));
  std::vector<float> scales = getScales(weight);
  double signal = 0, noise = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    double scale = scales.empty() ? 1 : static_cast<double>(scales[i]);
    double value = static_cast<double>(before[i]);
    double difference = static_cast<double>(after[i]) - value;
    signal += value * value * scale * scale;
    noise += difference * difference * scale * scale;
  }
  sizes.error = noise > 0 ? std::sqrt(noise / signal) : 0;
  return sizes;
}
