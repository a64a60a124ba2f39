//===- Quantize.cpp - nnc quantize ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/quantization/Evaluation.h"
#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/AccuracyOptions.h"
#include "compiler/tools/nnc/quantize/QuantizeModule.h"
#include "compiler/tools/nnc/quantize/Report.h"
#include "frontends/common/Suggest.h"

#include "llvm/ADT/StringSwitch.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {
namespace {

class Quantize : public Command {
public:
  void addOptions(CLI::App &app) override {
    addEditedModelOptions(app, settings.model);
    app.add_option("-o,--output", settings.output,
                   "The quantized model: of an ONNX model an ONNX file in QDQ "
                   "form; of any model a module of nnc's own, as text or as "
                   "bytecode, which nnc reads as a model")
        ->type_name("FILE.onnx|FILE.mlir|FILE.mlirbc")
        ->required();
    addCalibrationOption(app, settings.calibration)->required();
    addMethodOptions(app);
    addLayerOptions(app);
    addDropOptions(app);
    addThreadCountOption(app, settings.threads);
    addCompilerOption(app, settings.compiler);
    addJsonOption(app, json);
  }

  ExitCode run() override;

private:
  void addMethodOptions(CLI::App &app);
  void addLayerOptions(CLI::App &app);
  void addDropOptions(CLI::App &app);
  ExitCode checkSettings() const;
  ExitCode checkModule() const;
  ExitCode quantize();
  ExitCode open(OnnxModel &session, Evaluation &evaluation);
  ExitCode equalize(std::unique_ptr<OnnxModel> &session, Evaluation &evaluation,
                    QuantizeTotals &totals);

  QuantizeSettings settings;
  std::string method = "minmax", storage = "s8", maxDrop;
  std::optional<double> percentile;
  std::vector<std::string> exclude, ops;
  bool json = false;
};

} // namespace

void Quantize::addMethodOptions(CLI::App &app) {
  addWords(app, "--method", method, {"minmax", "percentile", "entropy", "mse"},
           "How the range of an activation follows from its values: all of "
           "them, all but a share at both ends, the least divergence of the "
           "two distributions, or the least mean squared error");
  app.add_option("--percentile", percentile,
                 "Percentage of the values that --method=percentile keeps; "
                 "99.99 unless given")
      ->type_name("P")
      ->check(numberFrom(50, 100));
  addWords(app, "--activations", storage, {"s8", "u8"},
           "Integers that activations are stored as; onnxruntime's default is "
           "s8, too");
  app.add_flag("--per-channel", settings.options.weights.perChannel,
               "Give weights a scale for each output channel instead of one");
  app.add_flag("--reduce-range", settings.options.weights.reduceRange,
               "Give weights 7 bits, from -64 to 64. With --activations=u8, "
               "layers then take up to 1.7 times less time on x86 without "
               "VNNI; the rounding errors of weights are twice as large");
  app.add_flag("--equalize", settings.equalize,
               "Scale the channels between layers so that weights have even "
               "ranges; the float model computes the same. It is left out "
               "where the quantized model is better without it");
  app.add_flag("--bias-correction", settings.biasCorrection,
               "Subtract from biases what the rounding of weights adds to a "
               "layer's result in the mean over the samples");
}

/// Adds the options that choose which parts of a layer, and which layers, are
/// quantized.
void Quantize::addLayerOptions(CLI::App &app) {
  addExcludeOption(app, exclude, "A node that stays float");
  app.add_flag("--unrounded", settings.options.unrounded,
               "Do not round results of convolutions and matrix products that "
               "only float nodes read, such as activations without an integer "
               "form. nnc computes these layers in integers all the same, and "
               "what follows before the result is stored; tools that want "
               "integers at both ends of a layer compute it in floats");
  const std::vector<std::string> &known = onnx::getQuantizableOps();
  CLI::Option *option =
      app.add_option(
             "--ops", ops,
             fmt::format("Operators to quantize, of {}; all of them unless "
                         "given",
                         fmt::join(known, ", ")))
          ->delimiter(',')
          ->allow_extra_args(false)
          ->type_name("LIST");
  setWords(
      *option, [&known] { return known; },
      [&known](const std::string &given) -> std::string {
        return llvm::is_contained(known, given)
                   ? ""
                   : fmt::format("nnc quantizes no operator {}{}", given,
                                 frontends::didYouMean(given, known));
      });
}

void Quantize::addDropOptions(CLI::App &app) {
  addShareOption(
      app, "--max-drop", maxDrop, "0.5%",
      "Keep the most sensitive layers float until the metric drops by no more "
      "than this. The metric is the agreement of argmax of the first output "
      "with the float model if that looks like scores of classes, else its "
      "relative L2 error");
  addMetricOption(app, settings.metric);
  app.add_flag("--mixed", settings.mixed,
               "Keep those layers float that are faster so on the target, and "
               "with --max-drop those that are most sensitive for the time "
               "that integers save, both by the estimates of the compiler");
  addTargetOption(app, settings.model.target,
                  "Machine whose times --mixed estimates, see 'nnc targets'; "
                  "the samples run on this machine");
}

/// Reports problems that are visible only from several options together.
ExitCode Quantize::checkSettings() const {
  ExitCode code = ExitCode::done;
  auto complain = [&](const std::string &problem) {
    code = fail(makeError(problem), ExitCode::usage);
  };
  if (percentile && method != "percentile")
    complain("--percentile needs --method=percentile");
  if (!settings.mixed && settings.model.target != "native")
    complain("--target needs --mixed: without it the model is the same for all "
             "targets");
  ExitCode files = checkFiles("quantize", settings.model, settings.calibration,
                              settings.output);
  return code == ExitCode::done ? files : code;
}

/// Reports an error for options that require an ONNX result if the result is a
/// module.
ExitCode Quantize::checkModule() const {
  if (settings.options.ops.empty())
    return ExitCode::done;
  return fail(makeError("--ops is for ONNX models that are written as ONNX; "
                        "leave it out, or name layers that stay float with "
                        "--exclude"),
              ExitCode::usage);
}

ExitCode Quantize::run() {
  settings.method = llvm::StringSwitch<quantize::Method>(method)
                        .Case("percentile", quantize::Method::percentile)
                        .Case("entropy", quantize::Method::entropy)
                        .Case("mse", quantize::Method::mse)
                        .Default(quantize::Method::minmax);
  settings.model.runOn(settings.threads);
  settings.percentile = percentile.value_or(settings.percentile);
  settings.options.storage =
      storage == "u8" ? quantize::Storage::u8 : quantize::Storage::s8;
  settings.options.exclude.insert(exclude.begin(), exclude.end());
  settings.options.ops.insert(ops.begin(), ops.end());
  if (!maxDrop.empty())
    settings.maxDrop = parseShare(maxDrop);
  if (ExitCode code = checkSettings(); code != ExitCode::done)
    return code;
  if (!isWrittenAsModule(settings.model.model, settings.output))
    return quantize();
  ExitCode code = checkModule();
  return code == ExitCode::done ? quantizeModule(settings, json) : code;
}

/// Quantizes all layers and compares the result with the float model.
ExitCode Quantize::open(OnnxModel &session, Evaluation &evaluation) {
  for (ExitCode (OnnxModel::*step)() :
       {&OnnxModel::open, &OnnxModel::calibrate})
    if (ExitCode code = (session.*step)(); code != ExitCode::done)
      return code;
  if (settings.biasCorrection)
    if (ExitCode code = session.correctBiases(); code != ExitCode::done)
      return code;
  return evaluate(session, Compared::tensors, evaluation);
}

/// Equalizes the model, and keeps the session and the evaluation with
/// equalization unless those without it are better.
ExitCode Quantize::equalize(std::unique_ptr<OnnxModel> &session,
                            Evaluation &evaluation, QuantizeTotals &totals) {
  llvm::Expected<quantize::ChannelRanges> ranges = session->findChannelRanges();
  if (!ranges)
    return fail(ranges.takeError(), ExitCode::ownFault);
  if (ranges->empty())
    return ExitCode::done;
  QuantizeSettings scaled = settings;
  scaled.options.channelRanges = std::move(*ranges);
  auto other = std::make_unique<OnnxModel>(scaled);
  Evaluation found;
  if (ExitCode code = open(*other, found); code != ExitCode::done)
    return code;
  if (!totals.isBetterEqualized(settings, evaluation, found))
    return ExitCode::done;
  session = std::move(other);
  evaluation = std::move(found);
  return ExitCode::done;
}

ExitCode Quantize::quantize() {
  auto start = std::chrono::steady_clock::now();
  auto opened = std::make_unique<OnnxModel>(settings);
  Evaluation evaluation;
  QuantizeTotals totals;
  if (ExitCode code = open(*opened, evaluation); code != ExitCode::done)
    return code;
  if (settings.equalize)
    if (ExitCode code = equalize(opened, evaluation, totals);
        code != ExitCode::done)
      return code;
  OnnxModel &session = *opened;
  if (settings.hasSearch())
    if (ExitCode code = limitDrop(session, evaluation, totals.search);
        code != ExitCode::done)
      return code;
  llvm::Expected<std::string> text = session.getQuantizer().printQuantized();
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  if (llvm::Error error = replaceTextFile(settings.output, *text))
    return fail(std::move(error), ExitCode::usage);
  totals.floatBytes = session.getQuantizer().getFloatBytes();
  totals.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  warnOfFloats(session, totals.search);
  if (json)
    printJson(toJson(session, evaluation, totals));
  else
    printReport(session, evaluation, totals);
  return ExitCode::done;
}

std::unique_ptr<Command> makeQuantize() { return std::make_unique<Quantize>(); }

} // namespace nnc::tools
