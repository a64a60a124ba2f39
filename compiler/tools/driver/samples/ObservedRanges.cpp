//===- ObservedRanges.cpp - Ranges of tensors over samples ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/samples/ObservedRanges.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"

#include <cmath>
#include <fmt/format.h>

namespace nnc::tools {

llvm::ArrayRef<float> getFloats(const Tensor &tensor) {
  return {reinterpret_cast<const float *>(tensor.data.data()),
          tensor.data.size() / sizeof(float)};
}

/// Calls `visit` with the values of each tensor in each sample.
static ExitCode
forEachTensor(const char *step, llvm::ArrayRef<ObservedTensor> tensors,
              llvm::ArrayRef<Sample> samples, SampleRunner run,
              llvm::function_ref<void(const ObservedTensor &, const Sample &,
                                      llvm::ArrayRef<float>)>
                  visit) {
  Progress progress(step);
  for (size_t i = 0; i < samples.size(); ++i) {
    progress.setShare(double(i) / double(samples.size()));
    llvm::Expected<std::vector<Tensor>> outputs = run(i);
    if (!outputs)
      return fail(outputs.takeError(), ExitCode::ownFault);
    for (const ObservedTensor &tensor : tensors)
      visit(tensor, samples[i], getFloats((*outputs)[tensor.output]));
  }
  return ExitCode::done;
}

/// Finds the smallest and the largest value of each tensor.
static ExitCode findExtremes(llvm::ArrayRef<ObservedTensor> tensors,
                             llvm::ArrayRef<Sample> samples, SampleRunner run,
                             std::map<std::string, quantize::Range> &ranges,
                             std::map<std::string, std::string> &unusable) {
  std::map<std::string, std::string> infinite;
  std::string notNumbers;
  ExitCode code = forEachTensor(
      "calibrating", tensors, samples, run,
      [&](const ObservedTensor &tensor, const Sample &sample,
          llvm::ArrayRef<float> values) {
        quantize::Range &range = ranges[tensor.key];
        float low = 0, high = 0;
        bool isNumber = true;
        for (float value : values) {
          low = std::min(low, value);
          high = std::max(high, value);
          isNumber = isNumber && value == value;
        }
        // Tensors after the first one with NaN have NaN because of it.
        if (!isNumber && notNumbers.empty())
          notNumbers = fmt::format(
              "tensor '{}' of {} holds NaN in sample {}: calibration needs "
              "samples on which the float model computes numbers",
              displayText(tensor.name), tensor.producer, sample.name);
        if (!std::isfinite(low) || !std::isfinite(high)) {
          infinite.try_emplace(tensor.key, sample.name);
          return;
        }
        range.include({low, high});
      });
  if (code != ExitCode::done)
    return code;
  if (!notNumbers.empty())
    return fail(makeError(notNumbers), ExitCode::usage);
  for (const ObservedTensor &tensor : tensors) {
    auto found = infinite.find(tensor.key);
    if (found == infinite.end())
      continue;
    printWarning(fmt::format(
        "tensor '{}' of {} holds infinite values in sample {}: what computes "
        "it and what reads it stays float",
        displayText(tensor.name), tensor.producer, found->second));
    unusable[tensor.key] = "is infinite in a sample";
  }
  return ExitCode::done;
}

ExitCode findRanges(llvm::ArrayRef<ObservedTensor> tensors,
                    llvm::ArrayRef<Sample> samples, SampleRunner run,
                    const RangeMethod &method,
                    std::map<std::string, quantize::Range> &ranges,
                    std::map<std::string, std::string> &unusable) {
  if (ExitCode code = findExtremes(tensors, samples, run, ranges, unusable);
      code != ExitCode::done)
    return code;
  std::vector<ObservedTensor> usable;
  for (const ObservedTensor &tensor : tensors) {
    if (unusable.count(tensor.key))
      continue;
    if (ranges[tensor.key].hasScale()) {
      usable.push_back(tensor);
      continue;
    }
    printWarning(fmt::format(
        "tensor '{}' of {} is 0 in all samples, or its range is too narrow or "
        "too wide for a scale: what computes it and what reads it stays float",
        displayText(tensor.name), tensor.producer));
    unusable[tensor.key] = "has no range that a scale fits";
  }
  if (method.method == quantize::Method::minmax)
    return ExitCode::done;
  std::map<std::string, quantize::Histogram> histograms;
  for (const ObservedTensor &tensor : usable)
    histograms.emplace(tensor.key, quantize::Histogram(ranges[tensor.key]));
  ExitCode code = forEachTensor(
      "counting", usable, samples, run,
      [&](const ObservedTensor &tensor, const Sample &,
          llvm::ArrayRef<float> values) {
        histograms.at(tensor.key).add(values.data(), values.size());
      });
  if (code != ExitCode::done)
    return code;
  Progress progress("choosing ranges");
  for (const auto &[tensor, histogram] : histograms)
    ranges[tensor] = quantize::chooseRange(histogram, method.method,
                                           method.percentile, method.storage);
  return ExitCode::done;
}

} // namespace nnc::tools
