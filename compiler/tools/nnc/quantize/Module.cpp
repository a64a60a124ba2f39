//===- Module.cpp - nnc quantize for models of any frontend ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Module.h"

#include "compiler/quantize/Results.h"
#include "compiler/tools/driver/ModuleQuantizer.h"
#include "compiler/tools/driver/Progress.h"
#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/AccuracyOptions.h"
#include "compiler/tools/nnc/Command.h"
#include "compiler/tools/nnc/Comparison.h"
#include "compiler/tools/nnc/OutputFile.h"
#include "compiler/tools/nnc/quantize/Report.h"

#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {

namespace {
/// How far the quantized module is from the float one.
struct ModuleScore : Score {
  std::vector<OutputNoise> outputs;
  int64_t bytes = 0; ///< of the quantized module as bytecode
};
} // namespace

static ExitCode evaluate(ModuleQuantizer &quantizer,
                         const QuantizeSettings &settings, ModuleScore &score) {
  Executable quantized;
  std::string bytes = printBytecode(quantizer.getModule());
  score.bytes = int64_t(bytes.size());
  if (ExitCode code =
          quantized.open(bytes, "quantized", ModelOptions(), settings.compiler,
                         settings.threads, &quantizer.getFloatModel());
      code != ExitCode::done)
    return code;
  auto main = quantizer.getModule().lookupSymbol<mlir::func::FuncOp>("main");
  mlir::Operation *end = main.getBody().front().getTerminator();
  const std::vector<Port> &ports = quantized.getManifest().outputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    bool isScore = i < end->getNumOperands() &&
                   quantize::isSoftmax(end->getOperand(unsigned(i)));
    score.outputs.push_back(describeOutput(ports[i], isScore));
  }
  const std::vector<Sample> &samples = quantizer.getSamples();
  Progress progress("comparing");
  for (size_t i = 0; i < samples.size(); ++i) {
    progress.setShare(double(i) / double(samples.size()));
    llvm::Expected<std::vector<Tensor>> expected = quantizer.runFloat(i);
    if (!expected)
      return fail(expected.takeError(), ExitCode::ownFault);
    llvm::Expected<std::vector<Tensor>> actual =
        quantized.run(samples[i].inputs,
                      fmt::format("sample {} of {}", i + 1, samples.size()));
    if (!actual)
      return fail(actual.takeError(), ExitCode::ownFault);
    for (size_t o = 0; o < score.outputs.size(); ++o)
      compareOutput((*expected)[o], (*actual)[o], score.outputs[o]);
  }
  scoreOutputs(score.outputs, score);
  return ExitCode::done;
}

/// Sums and times that the report tells beside the quantizer's layers.
namespace {
struct ModuleTotals {
  int64_t floatBytes = 0; ///< of the model's file
  double seconds = 0;
};
} // namespace

static json::Object toJson(const ModuleQuantizer &quantizer,
                           const QuantizeSettings &settings,
                           const ModuleScore &score,
                           const ModuleTotals &totals) {
  json::Array layers, floats;
  for (const ModuleQuantizer::Layer &each : quantizer.getLayers())
    layers.push_back(json::Object{{"name", each.name},
                                  {"op", each.op},
                                  {"output", each.name},
                                  {"low", each.range.low},
                                  {"high", each.range.high},
                                  {"scale", nullptr},
                                  {"zero_point", nullptr},
                                  {"sqnr_db", nullptr}});
  for (const ModuleQuantizer::Float &each : quantizer.getFloats())
    floats.push_back(json::Object{
        {"name", each.name}, {"op", each.op}, {"reason", each.reason}});
  return json::Object{{"file", settings.output},
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
                      {"evaluated", 1},
                      {"metric", score.metricName},
                      {"float_metric", orNull(score.floatMetric)},
                      {"quantized_metric", orNull(score.metric)},
                      {"drop", orNull(score.drop)},
                      {"layers", std::move(layers)},
                      {"float_layers", std::move(floats)},
                      {"outputs", toJson(score.outputs)}};
}

static void printReport(const ModuleQuantizer &quantizer,
                        const QuantizeSettings &settings,
                        const ModuleScore &score, const ModuleTotals &totals) {
  Table layers({"layer", "op", "low", "high"});
  for (const ModuleQuantizer::Layer &each : quantizer.getLayers())
    layers.add({each.name, each.op, fmt::format("{:.4g}", each.range.low),
                fmt::format("{:.4g}", each.range.high)});
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
  if (!score.metricName.empty())
    print(static_cast<const Score &>(score));
}

ExitCode quantizeModule(const QuantizeSettings &settings, bool json) {
  auto start = std::chrono::steady_clock::now();
  DriverOptions wanted;
  wanted.command = "quantize";
  Driver driver(settings.model, wanted);
  if (ExitCode code = driver.import(); code != ExitCode::done)
    return code;
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
  ModuleScore score;
  if (ExitCode code = evaluate(quantizer, settings, score);
      code != ExitCode::done)
    return code;
  if (llvm::Error error =
          writeModuleFile(settings.output, quantizer.getModule()))
    return fail(std::move(error), ExitCode::usage);
  ModuleTotals totals;
  uint64_t bytes = 0;
  if (!llvm::sys::fs::file_size(settings.model.model, bytes))
    totals.floatBytes = int64_t(bytes);
  totals.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  if (json)
    printJson(toJson(quantizer, settings, score, totals));
  else
    printReport(quantizer, settings, score, totals);
  return ExitCode::done;
}

} // namespace nnc::tools
