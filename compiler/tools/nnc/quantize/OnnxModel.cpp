//===- OnnxModel.cpp - An ONNX file while it is quantized -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/OnnxModel.h"

#include "compiler/quantize/BiasCorrection.h"
#include "compiler/quantize/Equalize.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/OutputFile.h"
#include "compiler/tools/nnc/options/AccuracyOptions.h"

#include <fmt/format.h>

namespace nnc::tools {

ExitCode OnnxModel::open() {
  {
    // The import finds all problems of the model, and reports them in terms of
    // its file.
    DriverOptions wanted;
    wanted.command = "quantize";
    Driver original(settings.model, wanted);
    if (ExitCode code = original.import(); code != ExitCode::done)
      return code;
    if (ExitCode code = checkNoInput(settings.output, original.findSources());
        code != ExitCode::done)
      return code;
    settings.model.shapes = original.options().shapes;
    settings.options.folds = quantize::findFolds(original.module());
  }
  frontends::ImportStatus status;
  {
    Progress progress("reading " + settings.model.model);
    quantizer =
        onnx::Quantizer::open(settings.model.model, settings.model.externalData,
                              settings.options, context, status);
  }
  if (!quantizer)
    return status == frontends::ImportStatus::unsupported
               ? ExitCode::unsupported
               : ExitCode::broken;
  if (ExitCode code = checkNodes(); code != ExitCode::done)
    return code;
  std::vector<std::string> scalable;
  if (settings.equalize)
    scalable = quantizer->getEqualizable();
  llvm::Expected<std::string> text = quantizer->printObserved(scalable);
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  runs.setNumOutputs(quantizer->getNumOutputs());
  if (ExitCode code =
          runs.getProgram().open(*text, "observed", settings.model,
                                 settings.compiler, settings.threads);
      code != ExitCode::done)
    return code;
  if (ExitCode code = dropTensorsOfOtherTypes(); code != ExitCode::done)
    return code;
  return runs.readSamples(settings.calibration);
}

/// Reports an error and returns ExitCode::unsupported if no layer can be
/// quantized.
static ExitCode checkLayers(onnx::Quantizer &quantizer,
                            const std::string &model) {
  if (!quantizer.getLayers().empty())
    return ExitCode::done;
  Problem problem{Problem::error, model, "", "", "", "", "", {}};
  problem.message = "has no layer that can be quantized";
  for (const onnx::FloatSummary &each : quantizer.getFloats())
    if (problem.notes.size() < 10)
      problem.notes.push_back(fmt::format("{} '{}' stays float: {}", each.op,
                                          each.name, each.reason));
  report(std::move(problem));
  return ExitCode::unsupported;
}

ExitCode OnnxModel::checkNodes() {
  ExitCode code = checkExcluded(settings.model.model, quantizer->getNodeNames(),
                                settings.options.exclude);
  if (std::string node = quantizer->findQuantizedNode(); !node.empty())
    code = fail(makeError(fmt::format(
                    "{} is quantized already: its node '{}' computes on "
                    "quantized values; give the float model",
                    settings.model.model, displayText(node))),
                ExitCode::usage);
  return code == ExitCode::done ? checkLayers(*quantizer, settings.model.model)
                                : code;
}

ExitCode OnnxModel::dropTensorsOfOtherTypes() {
  for (const std::string &tensor : quantizer->getTensors()) {
    int output = runs.getProgram().findOutput(tensor);
    if (output < 0)
      return fail(makeError(fmt::format("the model that observes '{}' has no "
                                        "such output",
                                        displayText(tensor))),
                  ExitCode::ownFault);
    Dtype dtype = runs.getProgram().getManifest().outputs[output].dtype;
    if (dtype != Dtype::f32)
      quantizer->setUnusable(tensor,
                             "has elements of type " + dtypeName(dtype));
  }
  return checkLayers(*quantizer, settings.model.model);
}

ExitCode OnnxModel::calibrate() {
  std::vector<ObservedTensor> tensors;
  for (const std::string &tensor : quantizer->getTensors())
    tensors.push_back({tensor, tensor, quantizer->describeProducer(tensor),
                       runs.getProgram().findOutput(tensor)});
  std::map<std::string, std::string> unusable;
  if (ExitCode code = findRanges(
          tensors, runs.getSamples(),
          [this](size_t sample) { return runFloat(sample); },
          {settings.method, settings.percentile, settings.options.storage},
          ranges, unusable);
      code != ExitCode::done)
    return code;
  for (const auto &[tensor, reason] : unusable)
    quantizer->setUnusable(tensor, reason);
  if (ExitCode code = checkLayers(*quantizer, settings.model.model);
      code != ExitCode::done)
    return code;
  quantizer->setRanges(ranges);
  return ExitCode::done;
}

llvm::Expected<quantize::ChannelRanges> OnnxModel::findChannelRanges() {
  quantize::ChannelRanges ranges;
  std::vector<std::string> values = quantizer->getEqualizable();
  for (size_t i = 0; i < runs.getSamples().size() && !values.empty(); ++i) {
    llvm::Expected<std::vector<Tensor>> results = runFloat(i);
    if (!results)
      return results.takeError();
    for (const std::string &value : values) {
      const Tensor &tensor = (*results)[runs.getProgram().findOutput(value)];
      if (tensor.dtype != Dtype::f32 || tensor.shape.size() < 2)
        continue;
      quantize::widenRanges(ranges[value],
                            quantize::ChannelShape::get(tensor.shape, 1),
                            getFloats(tensor));
    }
  }
  return ranges;
}

std::vector<precision::SearchedLayer> OnnxModel::listLayers() const {
  std::vector<precision::SearchedLayer> layers;
  for (onnx::LayerSummary &layer : quantizer->getLayers())
    layers.push_back({layer.node, std::move(layer.name),
                      std::move(layer.inputs), std::move(layer.output),
                      layer.isMove});
  return layers;
}

ExitCode OnnxModel::correctBiases() {
  std::map<std::string, int> outputs;
  llvm::Expected<std::string> text = quantizer->printWeightErrors(outputs);
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  Executable model;
  if (ExitCode code =
          model.open(*text, "weight_errors", settings.model, settings.compiler,
                     settings.threads, &runs.getProgram());
      code != ExitCode::done)
    return code;
  std::map<int, std::string> ops;
  for (const onnx::LayerSummary &layer : quantizer->getLayers())
    ops[layer.node] = layer.op;
  std::map<int, quantize::ChannelMeans> means;
  auto addErrors = [&](const std::vector<Tensor> &results) {
    for (const auto &[name, node] : outputs) {
      const Tensor &errors = results[model.findOutput(name)];
      bool isConv = llvm::StringRef(ops[node]).starts_with("Conv");
      int64_t axis = isConv ? 1 : int64_t(errors.shape.size()) - 1;
      means[node].add(quantize::ChannelShape::get(errors.shape, axis),
                      getFloats(errors));
    }
  };
  if (ExitCode code =
          model.runEach(runs.getSamples(), "measuring errors", addErrors);
      code != ExitCode::done)
    return code;
  for (const auto &[node, own] : means) {
    quantizer->correctBias(node, own.get());
    ++corrected;
  }
  return ExitCode::done;
}

} // namespace nnc::tools
