//===- Module.cpp - nnc quantize for models of any frontend ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Module.h"

#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/AccuracyOptions.h"
#include "compiler/tools/nnc/Command.h"
#include "compiler/tools/nnc/Comparison.h"
#include "compiler/tools/nnc/OutputFile.h"
#include "compiler/tools/nnc/quantize/ModuleModel.h"
#include "compiler/tools/nnc/quantize/Report.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {

/// Sums and times that the report tells beside the quantizer's layers.
namespace {
struct ModuleTotals {
  int64_t floatBytes = 0; ///< of the model's file
  double seconds = 0;
  SearchResult search;
};
} // namespace

static std::optional<double> findDecibels(const ModuleQuantizer::Layer &layer,
                                          const Evaluation &evaluation) {
  auto found = evaluation.tensors.find(layer.output);
  return found == evaluation.tensors.end() ? std::nullopt
                                           : found->second.getDecibels();
}

static json::Object toJson(const ModuleQuantizer &quantizer,
                           const ModuleModel &model,
                           const QuantizeSettings &settings,
                           const Evaluation &score,
                           const ModuleTotals &totals) {
  json::Array layers, floats;
  const std::vector<SearchedLayer> searched = model.listLayers();
  for (const auto &[i, each] : llvm::enumerate(quantizer.getLayers())) {
    json::Object layer{{"name", each.name},
                       {"op", each.op},
                       {"output", each.name},
                       {"low", each.range.low},
                       {"high", each.range.high},
                       {"scale", nullptr},
                       {"zero_point", nullptr},
                       {"sqnr_db", orNull(findDecibels(each, score))}};
    addTimes(searched[i].number, totals.search, layer);
    layers.push_back(std::move(layer));
  }
  for (const ModuleQuantizer::Float &each : quantizer.getFloats())
    floats.push_back(json::Object{
        {"name", each.name}, {"op", each.op}, {"reason", each.reason}});
  json::Object object{{"file", settings.output},
                      {"method", getName(settings.method)},
                      {"activations", getName(settings.options.storage)},
                      {"per_channel", settings.options.perChannel},
                      {"samples", int64_t(quantizer.getSamples().size())},
                      {"opset", 0},
                      {"folded", 0},
                      {"equalized", 0},
                      {"corrected", 0},
                      {"float_bytes", totals.floatBytes},
                      {"bytes", score.bytes},
                      {"seconds", totals.seconds},
                      {"evaluated", totals.search.evaluated},
                      {"metric", score.metricName},
                      {"float_metric", orNull(score.floatMetric)},
                      {"quantized_metric", orNull(score.metric)},
                      {"drop", orNull(score.drop)},
                      {"layers", std::move(layers)},
                      {"float_layers", std::move(floats)},
                      {"outputs", toJson(score.outputs)}};
  addTimes(totals.search, object);
  return object;
}

static void printReport(const ModuleQuantizer &quantizer,
                        const QuantizeSettings &settings,
                        const Evaluation &score, const ModuleTotals &totals) {
  Table layers({"layer", "op", "low", "high", "SQNR (dB)"});
  for (const ModuleQuantizer::Layer &each : quantizer.getLayers())
    layers.add({each.name, each.op, fmt::format("{:.4g}", each.range.low),
                fmt::format("{:.4g}", each.range.high),
                formatDecibels(findDecibels(each, score))});
  layers.print();
  Table floats({"stays float", "op", "because"});
  bool hasRows = false;
  for (const ModuleQuantizer::Float &each : quantizer.getFloats())
    if (each.isImportant) {
      floats.add({each.name, each.op, each.reason});
      hasRows = true;
    }
  if (hasRows) {
    printOut("\n");
    floats.print();
  }
  printOut("\n");
  print(score.outputs);
  printOut(
      "\n{}: {} layers quantized, {} instead of {}, by {} of {} samples, "
      "activations {}, in {}\n",
      displayText(settings.output), quantizer.getLayers().size(),
      formatBytes(double(score.bytes)), formatBytes(double(totals.floatBytes)),
      getName(settings.method).str(), quantizer.getSamples().size(),
      getName(settings.options.storage).str(), formatSeconds(totals.seconds));
  if (score.metricName.empty())
    return;
  print(static_cast<const Score &>(score));
  printSearch(settings, totals.search);
}

ExitCode searchModule(ModuleQuantizer &quantizer, const ModelOptions &options,
                      std::string &found) {
  QuantizeSettings settings;
  settings.model = options;
  settings.model.shapes.clear(); // The module has the shapes.
  settings.maxDrop = options.quantization.maxDrop;
  settings.mixed = true;
  ModuleModel model(quantizer, settings);
  const size_t all = model.listLayers().size();
  Evaluation evaluation;
  SearchResult result;
  if (ExitCode code = evaluate(model, Compared::tensors, evaluation);
      code != ExitCode::done)
    return code;
  if (ExitCode code = limitDrop(model, evaluation, result);
      code != ExitCode::done)
    return code;
  warnOfFloats(model, result);
  const size_t integers = model.listLayers().size();
  found = fmt::format("{} of {} layers, {}: {:.6g} instead of {:.6g}, a drop "
                      "of {:.3g} %",
                      integers, all, evaluation.metricName, evaluation.metric,
                      evaluation.floatMetric, 100 * evaluation.drop);
  return ExitCode::done;
}

ExitCode quantizeModule(const QuantizeSettings &given, bool json) {
  auto start = std::chrono::steady_clock::now();
  DriverOptions wanted;
  wanted.command = "quantize";
  Driver driver(given.model, wanted);
  if (ExitCode code = driver.import(); code != ExitCode::done)
    return code;
  QuantizeSettings settings = given;
  settings.model.shapes.clear(); // The imported module has the shapes.
  if (ExitCode code = checkNoInput(settings.output, driver.findSources());
      code != ExitCode::done)
    return code;
  QuantizeChoice choice;
  choice.samples = settings.calibration;
  choice.method = {settings.method, settings.percentile,
                   settings.options.storage};
  choice.passes.perChannel = settings.options.perChannel;
  choice.passes.isUnsigned = settings.options.storage == quantize::Storage::u8;
  choice.passes.unrounded = settings.options.unrounded;
  choice.passes.exclude.assign(settings.options.exclude.begin(),
                               settings.options.exclude.end());
  // The target is that of whoever compiles the result.
  driver.module()->removeAttr(target::kTargetAttr);
  ModuleQuantizer quantizer(driver.module(), settings.model.model, choice,
                            settings.compiler, settings.threads);
  if (ExitCode code = checkExcluded(settings.model.model, quantizer.getNames(),
                                    settings.options.exclude);
      code != ExitCode::done)
    return code;
  for (ExitCode (ModuleQuantizer::*step)() :
       {&ModuleQuantizer::open, &ModuleQuantizer::quantize})
    if (ExitCode code = (quantizer.*step)(); code != ExitCode::done)
      return code;
  ModuleModel model(quantizer, settings);
  ModuleTotals totals;
  Evaluation score;
  if (ExitCode code = evaluate(model, Compared::tensors, score);
      code != ExitCode::done)
    return code;
  if (settings.hasSearch())
    if (ExitCode code = limitDrop(model, score, totals.search);
        code != ExitCode::done)
      return code;
  if (llvm::Error error =
          writeModuleFile(settings.output, quantizer.getModule()))
    return fail(std::move(error), ExitCode::usage);
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(settings.model.model, bytes))
    totals.floatBytes = int64_t(bytes);
  totals.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  warnOfFloats(model, totals.search);
  if (json)
    printJson(toJson(quantizer, model, settings, score, totals));
  else
    printReport(quantizer, settings, score, totals);
  return ExitCode::done;
}

} // namespace nnc::tools
