//===- QuantizeModule.cpp - nnc quantize for models of any frontend -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/QuantizeModule.h"

#include "compiler/tools/driver/accuracy/Comparison.h"
#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/quantization/Evaluation.h"
#include "compiler/tools/driver/quantization/ModuleModel.h"
#include "compiler/tools/driver/system/OutputFile.h"
#include "compiler/tools/nnc/options/AccuracyOptions.h"
#include "compiler/tools/nnc/quantize/Report.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {

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
                           const QuantizeTotals &totals) {
  json::Array layers, floats;
  const std::vector<precision::SearchedLayer> searched = model.listLayers();
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
                      {"per_channel", settings.options.weights.perChannel},
                      {"reduce_range", settings.options.weights.reduceRange},
                      {"samples", int64_t(quantizer.getSamples().size())},
                      {"opset", 0},
                      {"folded", 0},
                      {"equalized", quantizer.getNumEqualized()},
                      {"corrected", quantizer.getNumCorrected()},
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
                        const Evaluation &score, const QuantizeTotals &totals) {
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
  printMethods(settings, quantizer.getNumEqualized(),
               quantizer.getNumCorrected(), totals);
  if (score.metricName.empty())
    return;
  print(static_cast<const Score &>(score));
  printSearch(settings, totals.search);
}

namespace {

/// A quantized module, and its difference from the float module.
class QuantizedModule {
public:
  QuantizedModule(mlir::ModuleOp imported, const QuantizeSettings &settings)
      : quantizer(imported, settings.model.model, getChoice(settings),
                  settings.compiler, settings.threads),
        model(quantizer, settings), settings(settings) {}

  /// Quantizes the module. Equalization scales `channels`. If they are empty,
  /// the run observes them for another module.
  ExitCode run(quantize::ValueChannels channels = {}) {
    bool observes = settings.equalize && channels.empty();
    quantizer.setMethods(
        {std::move(channels), observes, settings.biasCorrection});
    for (ExitCode (ModuleQuantizer::*step)() :
         {&ModuleQuantizer::open, &ModuleQuantizer::quantize})
      if (ExitCode code = (quantizer.*step)(); code != ExitCode::done)
        return code;
    return evaluate(model, Compared::tensors, evaluation);
  }

  ModuleQuantizer quantizer;
  ModuleModel model;
  Evaluation evaluation;

private:
  static QuantizeChoice getChoice(const QuantizeSettings &settings) {
    const onnx::QuantizeOptions &options = settings.options;
    QuantizeChoice choice;
    choice.samples = settings.calibration;
    choice.method = {settings.method, settings.percentile, options.storage};
    choice.passes.perChannel = options.weights.perChannel;
    choice.passes.reduceRange = options.weights.reduceRange;
    choice.passes.isUnsigned = options.storage == quantize::Storage::u8;
    choice.passes.unrounded = options.unrounded;
    choice.passes.exclude.assign(options.exclude.begin(),
                                 options.exclude.end());
    return choice;
  }

  const QuantizeSettings &settings;
};

} // namespace

/// Equalizes the imported module, and keeps the result unless the module
/// without equalization is better.
static ExitCode equalize(mlir::ModuleOp imported,
                         const QuantizeSettings &settings,
                         std::unique_ptr<QuantizedModule> &result,
                         QuantizeTotals &totals) {
  llvm::Expected<quantize::ValueChannels> channels =
      result->quantizer.findChannelRanges();
  if (!channels)
    return fail(channels.takeError(), ExitCode::ownFault);
  if (channels->empty())
    return ExitCode::done;
  auto other = std::make_unique<QuantizedModule>(imported, settings);
  if (ExitCode code = other->run(std::move(*channels)); code != ExitCode::done)
    return code;
  if (totals.isBetterEqualized(settings, result->evaluation, other->evaluation))
    result = std::move(other);
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
  // Whoever compiles the result chooses the target.
  driver.module()->removeAttr(target::kTargetAttr);
  auto result = std::make_unique<QuantizedModule>(driver.module(), settings);
  if (ExitCode code =
          checkExcluded(settings.model.model, result->quantizer.getNames(),
                        settings.options.exclude);
      code != ExitCode::done)
    return code;
  if (ExitCode code = result->run(); code != ExitCode::done)
    return code;
  QuantizeTotals totals;
  if (settings.equalize)
    if (ExitCode code = equalize(driver.module(), settings, result, totals);
        code != ExitCode::done)
      return code;
  ModuleQuantizer &quantizer = result->quantizer;
  ModuleModel &model = result->model;
  Evaluation &score = result->evaluation;
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
