//===- SampledRuns.cpp - Runs of the original model on samples ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/execute/SampledRuns.h"

#include <fmt/format.h>

namespace nnc::tools {

/// The largest number of bytes of outputs that are kept for all samples
/// together.
static constexpr int64_t kKeptBytes = int64_t(1) << 30;

/// Returns true if such results may be kept for all samples.
bool SampledRuns::isSmall(const std::vector<Tensor> &results) const {
  int64_t bytes = 0;
  for (const Tensor &result : results)
    bytes += int64_t(result.data.size());
  return bytes <= kKeptBytes / int64_t(samples.size());
}

llvm::Expected<std::vector<Tensor>> SampledRuns::run(size_t sample,
                                                     const char *title) {
  if (sample < kept.size())
    return kept[sample];
  llvm::Expected<std::vector<Tensor>> results = program.run(
      samples[sample].inputs,
      fmt::format("{} {} of {}", title, sample + 1, samples.size()));
  if (!results)
    return results;
  if (isSmall(*results) && sample == kept.size()) {
    kept.push_back(*results);
    return results;
  }
  // The model's own outputs come before the additional ones.
  auto first = results->begin();
  std::vector<Tensor> own(first, first + ptrdiff_t(numOutputs));
  if (isSmall(own))
    keptOutputs[sample] = std::move(own);
  return results;
}

llvm::Expected<std::vector<Tensor>> SampledRuns::runOutputs(size_t sample,
                                                            const char *title) {
  if (auto found = keptOutputs.find(sample); found != keptOutputs.end())
    return found->second;
  llvm::Expected<std::vector<Tensor>> results = run(sample, title);
  if (results)
    results->resize(numOutputs);
  return results;
}

} // namespace nnc::tools
