//===- Report.cpp - Output of nnc compress --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/compress/Report.h"

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;
using nnc::stored::StoredSizes;

namespace nnc::tools {
namespace {

/// Sums over the weights of layers. A weight that has no form of some kind
/// counts with its dense bytes for that kind.
struct SizeTotals {
  int64_t elements = 0, zeros = 0, dense = 0, codebook = 0, csr = 0,
          huffman = 0, least = 0;

  void add(const StoredSizes &sizes) {
    elements += sizes.elements;
    zeros += sizes.zeros;
    dense += sizes.dense;
    codebook += sizes.codebook.value_or(sizes.dense);
    csr += sizes.csr ? sizes.csr->bytes : sizes.dense;
    huffman += sizes.huffman ? sizes.huffman->bytes : sizes.dense;
    least += sizes.getLeast();
  }
};

} // namespace

static SizeTotals getTotals(const CompressResult &result) {
  SizeTotals totals;
  for (const compression::CompressedSizes &each : result.sizes)
    totals.add(each.stored);
  return totals;
}

static double getShare(int64_t part, int64_t whole) {
  return whole ? double(part) / double(whole) : 0;
}

static std::string getPattern(const compression::Options &options) {
  return options.pattern ? fmt::format("{}:{}", options.pattern->kept,
                                       options.pattern->group)
                         : "";
}

/// Returns the largest number of values that a layer was allowed to have, or 0
/// if it was not limited.
static int64_t getClusters(const compression::Options &options,
                           compression::Treatment treatment) {
  return treatment == compression::Treatment::none    ? 0
         : treatment == compression::Treatment::finer ? stored::kMostValues
                                                      : options.clusters;
}

/// Returns which part of the Hessian of a layer's inputs is known.
static const char *getHessian(const compression::CompressedSizes &size) {
  return !size.outputErrors ? "" : size.isDense ? "dense" : "blocks";
}

CompressedModel CompressedModel::get(CompressSession &session) {
  compression::Compressor &compressor = session.getCompressor();
  return {session.getSettings(),     compressor.getWeights(),
          compressor.getLeft(),      compressor.getNumFolded(),
          compressor.getFileBytes(), session.getNumSamples()};
}

json::Object toJson(const CompressedModel &model,
                    const CompressResult &result) {
  const CompressSettings &settings = model.settings;
  json::Array layers, left;
  for (const auto &[weight, size] : llvm::zip(model.weights, result.sizes)) {
    const StoredSizes &stored = size.stored;
    auto orNone = [](std::optional<int64_t> number) {
      return number ? json::Value(*number) : json::Value(nullptr);
    };
    using Gaps = std::optional<stored::GapSize>;
    auto getBytes = [&](const Gaps &size) {
      return orNone(size ? std::optional(size->bytes) : std::nullopt);
    };
    auto getGapBits = [&](const Gaps &size) {
      return orNone(size ? std::optional<int64_t>(size->gapBits)
                         : std::nullopt);
    };
    std::optional<double> outputError, magnitudeError;
    if (size.outputErrors) {
      outputError = size.outputErrors->result;
      magnitudeError = size.outputErrors->magnitude;
    }
    layers.push_back(json::Object{
        {"name", weight.name},
        {"nodes", json::Array(weight.nodes)},
        {"op", weight.op},
        {"rows", weight.shape.rows},
        {"columns", weight.shape.columns},
        {"compressed", weight.treatment != compression::Treatment::none},
        {"clusters", getClusters(settings.options, weight.treatment)},
        {"elements", stored.elements},
        {"sparsity", getShare(stored.zeros, stored.elements)},
        {"values", stored.values},
        {"entropy_bits", stored.entropy},
        {"dense_bytes", stored.dense},
        {"codebook_bytes", orNone(stored.codebook)},
        {"csr_bytes", getBytes(stored.csr)},
        {"csr_gap_bits", getGapBits(stored.csr)},
        {"huffman_bytes", getBytes(stored.huffman)},
        {"huffman_gap_bits", getGapBits(stored.huffman)},
        {"least_bytes", stored.getLeast()},
        {"relative_error", size.error},
        {"output_error", orNull(outputError)},
        {"magnitude_output_error", orNull(magnitudeError)},
        {"hessian", getHessian(size)},
        {"unobserved", weight.unobserved}});
  }
  for (const compression::LeftSummary &each : model.left)
    left.push_back(json::Object{{"name", each.name},
                                {"node", each.node},
                                {"op", each.op},
                                {"reason", each.reason}});
  SizeTotals totals = getTotals(result);
  const compression::Evaluation &evaluation = result.evaluation;
  bool hasMetric = !evaluation.metricName.empty();
  auto ofMetric = [&](double number) {
    return orNull(hasMetric ? std::optional(number) : std::nullopt);
  };
  return json::Object{
      {"file", settings.output},
      {"sparsity", orNull(settings.options.sparsity)},
      {"pattern", getPattern(settings.options)},
      {"clusters", settings.options.clusters},
      {"block", settings.options.block},
      {"method", settings.options.isSecondOrder ? "second-order" : "magnitude"},
      {"samples", int64_t(model.samples)},
      {"folded", model.folded},
      {"file_bytes", model.fileBytes},
      {"seconds", result.seconds},
      {"evaluated", result.evaluated},
      {"metric", evaluation.metricName},
      {"float_metric", ofMetric(evaluation.floatMetric)},
      {"compressed_metric", ofMetric(evaluation.metric)},
      {"drop", ofMetric(evaluation.drop)},
      {"layers", std::move(layers)},
      {"left", std::move(left)},
      {"totals",
       json::Object{{"elements", totals.elements},
                    {"sparsity", getShare(totals.zeros, totals.elements)},
                    {"dense_bytes", totals.dense},
                    {"codebook_bytes", totals.codebook},
                    {"csr_bytes", totals.csr},
                    {"huffman_bytes", totals.huffman},
                    {"least_bytes", totals.least}}},
      {"outputs", toJson(evaluation.outputs)}};
}

/// Returns a number with its noun in the singular or plural.
static std::string count(int64_t number, const std::string &one,
                         const std::string &several = "") {
  return fmt::format("{} {}", number,
                     number == 1       ? one
                     : several.empty() ? one + "s"
                                       : several);
}

/// Shortens long names, as converters make them from all ops that they fused.
static std::string shorten(const std::string &name) {
  constexpr size_t most = 40;
  return name.size() <= most ? name : name.substr(0, most - 3) + "...";
}

static void printLayers(const CompressedModel &model,
                        const CompressResult &result) {
  std::vector<std::string> titles = {
      "weights", "op",       "elements", "zeros",   "values", "entropy",
      "dense",   "codebook", "CSR",      "Huffman", "error"};
  bool isObserved = model.settings.options.isSecondOrder;
  if (isObserved)
    llvm::append_range(titles, std::vector{"results", "by magnitude"});
  Table table(titles);
  auto formatGaps = [](const std::optional<stored::GapSize> &size) {
    if (!size)
      return std::string();
    std::string bytes = formatBytes(double(size->bytes));
    return size->gapBits ? fmt::format("{} ({})", bytes, size->gapBits) : bytes;
  };
  for (const auto &[weight, size] : llvm::zip(model.weights, result.sizes)) {
    const StoredSizes &stored = size.stored;
    std::vector<std::string> row = {
        shorten(weight.name),
        weight.op,
        fmt::format("{}", stored.elements),
        fmt::format("{:.1f} %", 100 * getShare(stored.zeros, stored.elements)),
        fmt::format("{}", stored.values),
        fmt::format("{:.2f}", stored.entropy),
        formatBytes(double(stored.dense)),
        stored.codebook ? formatBytes(double(*stored.codebook)) : "",
        formatGaps(stored.csr),
        formatGaps(stored.huffman),
        weight.treatment == compression::Treatment::none
            ? "as it was"
            : fmt::format("{:.2g}", size.error)};
    if (size.outputErrors)
      for (double error :
           {size.outputErrors->result, size.outputErrors->magnitude})
        row.push_back(fmt::format("{:.2g}", error));
    else if (isObserved)
      row.insert(row.end(), 2, "");
    table.add(std::move(row));
  }
  table.print();
}

/// Prints the output errors that second-order compression knows, and the layers
/// for which it knows less.
static void printObserved(const CompressedModel &model,
                          const CompressResult &result) {
  printOut("results: the error of what layers compute on the samples, relative "
           "to that, and the same if weights were chosen by magnitude\n");
  auto blocks = llvm::count_if(result.sizes, [](const auto &size) {
    return size.outputErrors && !size.isDense;
  });
  if (blocks)
    printOut("inputs of {} count as related only within blocks of {} "
             "columns, as there are more than {}\n",
             count(blocks, "layer"), compression::InputMoments::kSpan,
             compression::InputMoments::kMostColumns);
  Table table({"by magnitude", "node", "because it"});
  bool hasAny = false;
  for (const compression::WeightSummary &weight : model.weights)
    if (!weight.unobserved.empty()) {
      table.add({weight.name, weight.nodes.front(), weight.unobserved});
      hasAny = true;
    }
  if (!hasAny)
    return;
  printOut("\n");
  table.print();
}

void printReport(const CompressedModel &model, const CompressResult &result) {
  const CompressSettings &settings = model.settings;
  printLayers(model, result);
  printOut("\ndense: 32-bit floats, or bytes where they are quantized; "
           "codebook: the numbers of values in a table; "
           "CSR: such numbers and gaps for what is not zero, in brackets the "
           "bits of a gap; Huffman: Huffman codes of values, or of both; "
           "entropy: bits a weight\n");
  if (const auto &pattern = settings.options.pattern)
    printOut("pattern {0}: of each {2} neighbouring input channels at a place "
             "of a kernel, {1} weights of an output channel stay; of a last "
             "group with fewer channels {1}, too\n",
             getPattern(settings.options), pattern->kept, pattern->group);
  if (settings.options.isSecondOrder)
    printObserved(model, result);
  if (!model.left.empty()) {
    Table left({"stays as it is", "node", "op", "because"});
    for (const compression::LeftSummary &each : model.left)
      left.add({each.name, each.node, each.op, each.reason});
    printOut("\n");
    left.print();
  }
  if (!result.evaluation.outputs.empty()) {
    printOut("\n");
    print(result.evaluation.outputs);
  }
  SizeTotals totals = getTotals(result);
  printOut("\n{}: {} of {}, {:.1f} % of them zero, take {} dense, "
           "{} as codebooks, {} as CSR, {} with Huffman codes, {} by the "
           "smallest form of each layer, in {}\n",
           displayText(settings.output), count(totals.elements, "weight"),
           count(int64_t(result.sizes.size()), "layer"),
           100 * getShare(totals.zeros, totals.elements),
           formatBytes(double(totals.dense)),
           formatBytes(double(totals.codebook)),
           formatBytes(double(totals.csr)), formatBytes(double(totals.huffman)),
           formatBytes(double(totals.least)), formatSeconds(result.seconds));
  if (model.folded)
    printOut("{} folded into weights\n",
             count(model.folded, "batch norm or other factor of channels was",
                   "batch norms and other factors of channels were"));
  print(static_cast<const Score &>(result.evaluation));
  if (settings.maxDrop)
    printOut("{} evaluated\n",
             count(result.evaluated, "model was", "models were"));
}

} // namespace nnc::tools
