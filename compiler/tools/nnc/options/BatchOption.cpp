//===- BatchOption.cpp - --batch and --max-latency ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/options/Options.h"

#include "llvm/ADT/StringExtras.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nnc::tools {

/// The largest number of samples in a batch. With more of them, sizes of
/// tensors would exceed the integers with which routines count.
static constexpr int64_t kMaxBatch = 65536;

/// Parses N or LOW..HIGH.
static std::optional<BatchRange> parseBatch(llvm::StringRef text) {
  BatchRange range;
  auto [low, high] = text.split("..");
  if (!llvm::to_integer(low, range.low, 10))
    return std::nullopt;
  range.high = range.low;
  if (text.contains("..") && !llvm::to_integer(high, range.high, 10))
    return std::nullopt;
  bool isSound =
      range.low >= 1 && range.low <= range.high && range.high <= kMaxBatch;
  return isSound ? std::optional(range) : std::nullopt;
}

/// Parses a time such as 40ms, 500us or 1.5s.
static std::optional<double> parseTime(llvm::StringRef text) {
  double unit = 1;
  if (text.consume_back("ms"))
    unit = 1e-3;
  else if (text.consume_back("us"))
    unit = 1e-6;
  else if (!text.consume_back("s"))
    return std::nullopt;
  double value;
  if (!llvm::to_float(text, value) || !(value > 0) || !std::isfinite(value))
    return std::nullopt;
  return value * unit;
}

void addBatchOptions(CLI::App &app, ModelOptions &options) {
  app.add_option_function<std::string>(
         "--batch",
         [&options](const std::string &given) {
           options.batch = parseBatch(given);
         },
         "Samples that a run takes along the first dimension of the "
         "inputs, "
         "which the model leaves open; of LOW..HIGH the number with the "
         "least time for a sample. Layers are computed on a part of them "
         "at a time where that is faster or --max-ram needs it")
      ->check([](const std::string &given) -> std::string {
        return parseBatch(given)
                   ? ""
                   : fmt::format("{} is no number of samples from 1 to {}, "
                                 "such as 8 or 1..64",
                                 given, kMaxBatch);
      })
      ->type_name("N|LOW..HIGH");
  app.add_option_function<std::string>(
         "--max-latency",
         [&options](const std::string &given) {
           options.maxLatency = parseTime(given);
         },
         "Most time that a run may be estimated to take: --batch keeps to it, "
         "else weights take as few bytes as that allows")
      ->check([](const std::string &given) -> std::string {
        return parseTime(given)
                   ? ""
                   : given + " is no time such as 40ms, 500us or 1.5s";
      })
      ->type_name("TIME");
}

} // namespace nnc::tools
