//===- CompressSession.cpp - One run of nnc compress ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/compress/CompressSession.h"

#include "compiler/compression/ModuleCompressor.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/OutputFile.h"
#include "compiler/tools/nnc/options/AccuracyOptions.h"
#include "frontends/onnx/compress/Compressor.h"

#include "llvm/Support/FileSystem.h"

#include <cmath>
#include <fmt/format.h>

namespace nnc::tools {

bool CompressSettings::isModule() const {
  return isWrittenAsModule(model.model, output);
}

/// Returns the extension of the files that are passed to --metric.
static const char *getExtension(const CompressSettings &settings) {
  return !settings.isModule()                                  ? ".onnx"
         : llvm::StringRef(settings.output).ends_with(".mlir") ? ".mlir"
                                                               : ".mlirbc";
}

ExitCode CompressSession::openModel(llvm::Expected<std::string> text,
                                    const char *name, Executable &model) {
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  // A module already has the shapes that were given.
  return model.open(
      *text, name, settings.isModule() ? ModelOptions() : settings.model,
      settings.compiler, settings.threads,
      &model == &runs.getProgram() ? nullptr : &runs.getProgram());
}

/// Warns about weights that are not finite, and reports an error if no others
/// are left.
ExitCode CompressSession::checkWeights() {
  for (const compression::LeftSummary &each : compressor->getLeft())
    if (!each.isFinite)
      printWarning(
          fmt::format("weights '{}' of node '{}' ({}) hold values that "
                      "are not finite: they stay as they are",
                      displayText(each.name), displayText(each.node), each.op));
  if (!compressor->getWeights().empty())
    return ExitCode::done;
  Problem problem{Problem::error, settings.model.model, "", "", "", "", "", {}};
  problem.message =
      "has no weights that can be compressed: constants of 32-bit "
      "floats or, quantized, of integers of 8 bits that a convolution, "
      "Gemm, MatMul, LSTM, GRU or RNN multiplies by";
  for (const compression::LeftSummary &each : compressor->getLeft())
    if (problem.notes.size() < 10)
      problem.notes.push_back(fmt::format("'{}' of {} '{}' stays as it is: {}",
                                          each.name, each.op, each.node,
                                          each.reason));
  report(std::move(problem));
  return ExitCode::unsupported;
}

/// Imports the model. The import finds all problems of the model, and reports
/// them in terms of its file.
ExitCode CompressSession::import() {
  DriverOptions wanted;
  wanted.mayStayOpen = settings.calibration.empty() && !settings.isModule();
  wanted.command = "compress";
  imported = std::make_unique<Driver>(settings.model, wanted);
  if (ExitCode code = imported->import(); code != ExitCode::done)
    return code;
  if (ExitCode code = checkNoInput(settings.output, imported->findSources());
      code != ExitCode::done)
    return code;
  settings.model.shapes = imported->options().shapes;
  return ExitCode::done;
}

/// Returns the number of batch norms of a module.
static int countNorms(mlir::ModuleOp module) {
  int count = 0;
  module.walk([&](nn::BatchNormOp) { ++count; });
  return count;
}

ExitCode CompressSession::openModule() {
  mlir::ModuleOp module = imported->module();
  // Whoever compiles the result chooses the target.
  module->removeAttr(target::kTargetAttr);
  int norms = countNorms(module);
  // Batch norms are folded now. If they were folded later, the channels of
  // weights that share values would be scaled.
  mlir::PassManager prepare(module.getContext());
  buildObservedPipeline(prepare);
  if (mlir::failed(prepare.run(module)))
    return ExitCode::ownFault;
  uint64_t bytes = 0;
  if (llvm::sys::fs::file_size(settings.model.model, bytes))
    bytes = 0;
  compressor = std::make_unique<compression::ModuleCompressor>(
      module, settings.options, norms - countNorms(module), int64_t(bytes));
  return ExitCode::done;
}

ExitCode CompressSession::openOnnx() {
  std::vector<quantize::AffineFold> folds =
      quantize::findFolds(imported->module());
  imported.reset();
  frontends::ImportStatus status;
  Progress progress("reading " + settings.model.model);
  compressor =
      onnx::openCompressor(settings.model.model, settings.model.externalData,
                           settings.options, folds, context, status);
  if (compressor)
    return ExitCode::done;
  return status == frontends::ImportStatus::unsupported ? ExitCode::unsupported
                                                        : ExitCode::broken;
}

ExitCode CompressSession::open() {
  if (ExitCode code = import(); code != ExitCode::done)
    return code;
  if (ExitCode code = settings.isModule() ? openModule() : openOnnx();
      code != ExitCode::done)
    return code;
  if (ExitCode code =
          checkExcluded(settings.model.model, compressor->getNodeNames(),
                        settings.options.exclude);
      code != ExitCode::done)
    return code;
  if (ExitCode code = checkWeights();
      code != ExitCode::done || settings.calibration.empty())
    return code;
  runs.setNumOutputs(compressor->getNumOutputs());
  if (ExitCode code =
          openModel(compressor->printOriginal(), "original", runs.getProgram());
      code != ExitCode::done)
    return code;
  if (ExitCode code = runs.readSamples(settings.calibration);
      code != ExitCode::done || !settings.options.isSecondOrder)
    return code;
  return observe();
}

/// Converts the elements to floats in `values`. Returns true if all of them are
/// finite.
static bool getFinite(const Tensor &tensor, std::vector<float> &values) {
  std::vector<double> all = tensor.values();
  values.assign(all.begin(), all.end());
  return llvm::all_of(values, [](float value) { return std::isfinite(value); });
}

ExitCode CompressSession::observe() {
  const std::vector<Sample> &samples = runs.getSamples();
  const std::vector<Port> &inputs = runs.getProgram().getManifest().inputs;
  std::vector<std::string> tensors = compressor->getObserved();
  std::vector<float> values;
  Progress progress("observing what layers read");
  for (size_t i = 0; i < samples.size(); ++i) {
    progress.setShare(double(i) / double(samples.size()));
    llvm::Expected<std::vector<Tensor>> results = runs.run(i);
    if (!results)
      return fail(results.takeError(), ExitCode::ownFault);
    for (const std::string &name : tensors) {
      int output = runs.getProgram().findOutput(name);
      auto input = llvm::find_if(
          inputs, [&](const Port &port) { return port.name == name; });
      if (output < 0 && input == inputs.end())
        return fail(makeError(fmt::format("the model that observes '{}' has "
                                          "no such output",
                                          displayText(name))),
                    ExitCode::ownFault);
      const Tensor &tensor = output >= 0
                                 ? (*results)[output]
                                 : samples[i].inputs[input - inputs.begin()];
      if (!getFinite(tensor, values))
        return fail(
            makeError(fmt::format(
                "tensor '{}', which node {} reads, holds values that are not "
                "finite in sample {}: leave this sample out, or choose weights "
                "by --method=magnitude",
                displayText(compressor->describeTensor(name)),
                displayText(compressor->describeReader(name)),
                samples[i].name)),
            ExitCode::usage);
      compressor->observe(name, tensor.shape, values, samples.size());
    }
  }
  return ExitCode::done;
}

void CompressSession::compress() {
  size_t count = compressor->getWeights().size();
  for (size_t i = 0; i < count; ++i) {
    Progress progress("compressing " +
                      displayText(compressor->getWeights()[i].name));
    progress.setShare(double(i) / double(count));
    compressor->compress(i);
  }
}

ExitCode CompressSession::compare(compression::Evaluation &evaluation) {
  const std::vector<Sample> &samples = runs.getSamples();
  if (!samples.empty()) {
    Executable compressed;
    if (ExitCode code =
            openModel(compressor->printToRun(), "compressed", compressed);
        code != ExitCode::done)
      return code;
    std::vector<int> places;
    for (const Port &port : compressed.getManifest().outputs) {
      evaluation.outputs.push_back(
          describeOutput(port, compressor->isSoftmax(port.name)));
      places.push_back(runs.getProgram().findOutput(port.name));
    }
    Progress progress("comparing");
    for (size_t i = 0; i < samples.size(); ++i) {
      progress.setShare(double(i) / double(samples.size()));
      llvm::Expected<std::vector<Tensor>> expected =
          runs.runOutputs(i, "original sample");
      if (!expected)
        return fail(expected.takeError(), ExitCode::ownFault);
      llvm::Expected<std::vector<Tensor>> actual =
          compressed.run(samples[i].inputs,
                         fmt::format("sample {} of {}", i + 1, samples.size()));
      if (!actual)
        return fail(actual.takeError(), ExitCode::ownFault);
      for (size_t o = 0; o < places.size(); ++o)
        compareOutput((*expected)[places[o]], (*actual)[o],
                      evaluation.outputs[o]);
    }
    accuracy::scoreOutputs(evaluation.outputs, evaluation);
  }
  if (settings.metric.empty())
    return ExitCode::done;
  llvm::Expected<std::string> text =
      compressor->printCompressed(settings.output);
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  return scoreByCommand(settings.metric, settings.model.model, *text,
                        evaluation, getExtension(settings));
}

ExitCode CompressSession::findErrors(std::vector<double> &errors) {
  const std::vector<Sample> &samples = runs.getSamples();
  errors.assign(compressor->getWeights().size(), 0);
  auto getSquaredError = [&](size_t weight) {
    double error = compressor->measure(weight).error;
    return error * error;
  };
  if (samples.empty()) {
    for (size_t i = 0; i < errors.size(); ++i)
      errors[i] = getSquaredError(i);
    return ExitCode::done;
  }
  std::vector<compression::ObservedError> observed;
  Executable model;
  if (ExitCode code =
          openModel(compressor->printErrors(observed), "errors", model);
      code != ExitCode::done)
    return code;
  std::vector<Noise> sums(observed.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    llvm::Expected<std::vector<Tensor>> results =
        model.run(samples[i].inputs,
                  fmt::format("measuring errors of layers: sample {} of {}",
                              i + 1, samples.size()));
    if (!results)
      return fail(results.takeError(), ExitCode::ownFault);
    auto getNorm = [&](const std::string &name) {
      return (*results)[model.findOutput(name)].values().front();
    };
    for (size_t o = 0; o < observed.size(); ++o) {
      sums[o].signal += getNorm(observed[o].signal);
      sums[o].noise += getNorm(observed[o].noise);
    }
  }
  std::vector<bool> isKnown(errors.size());
  for (size_t o = 0; o < observed.size(); ++o) {
    errors[observed[o].weight] += sums[o].getRatio();
    isKnown[observed[o].weight] = true;
  }
  // The error of weights of layers in the bodies of loops and branches is their
  // own.
  for (size_t i = 0; i < errors.size(); ++i)
    if (!isKnown[i])
      errors[i] = getSquaredError(i);
  return ExitCode::done;
}

} // namespace nnc::tools
