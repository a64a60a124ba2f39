//===- Evaluation.cpp - Noise of a quantized model ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/quantization/Evaluation.h"

#include "compiler/tools/driver/console/Progress.h"

#include <fmt/format.h>

namespace nnc::tools {

/// The largest number of samples on which tensors that are not outputs are
/// compared. Storing all tensors takes longer than computing them, and the mean
/// of their noise needs few samples.
static constexpr size_t kTensorSamples = 32;

namespace {

class Evaluator {
public:
  Evaluator(RunnableModel &model, Compared compared, Evaluation &evaluation)
      : model(model), compared(compared), evaluation(evaluation) {}
  ExitCode run();

private:
  ExitCode open(bool withTensors);
  void describeOutputs();
  ExitCode runSamples(bool withTensors, bool withOutputs);
  void compareTensors(const std::vector<Tensor> &expected,
                      const std::vector<Tensor> &actual);

  RunnableModel &model;
  Compared compared;
  Evaluation &evaluation;
  Executable quantized;
  std::string plain; ///< text of the quantized model
  std::map<std::string, std::string> observed;
  /// The indices of each of `evaluation.outputs` in the two models.
  std::vector<std::pair<int, int>> ports;
};

} // namespace

/// Describes the outputs of the model itself. They come before the additional
/// outputs.
void Evaluator::describeOutputs() {
  const std::vector<Port> &outputs = quantized.getManifest().outputs;
  for (size_t i = 0; i < size_t(model.getNumOutputs()); ++i) {
    const std::string &name = outputs[i].name;
    evaluation.outputs.push_back(
        describeOutput(outputs[i], model.isSoftmax(name)));
    ports.emplace_back(model.getFloatModel().findOutput(name), int(i));
  }
}

void Evaluator::compareTensors(const std::vector<Tensor> &expected,
                               const std::vector<Tensor> &actual) {
  bool needsRounding = model.getSettings().hasSearch();
  for (const auto &[tensor, name] : observed) {
    llvm::ArrayRef<float>
        e = getFloats(expected[model.getFloatModel().findOutput(tensor)]),
        a = getFloats(actual[quantized.findOutput(name)]);
    Noise &noise = evaluation.tensors[tensor];
    for (size_t i = 0; i < e.size(); ++i)
      noise.add(e[i], a[i]);
    if (!needsRounding)
      continue;
    quantize::Parameters parameters = model.getParameters(tensor);
    Noise &rounding = evaluation.rounding[tensor];
    for (float value : e)
      rounding.add(value, parameters.roundTrip(value));
  }
}

/// Compares results of the quantized model with those of the float model:
/// outputs on all samples, and tensors on at most kTensorSamples of them.
ExitCode Evaluator::runSamples(bool withTensors, bool withOutputs) {
  size_t count = model.getSamples().size();
  size_t step = withOutputs ? 1 : (count - 1) / kTensorSamples + 1;
  Progress progress("comparing");
  for (size_t i = 0; i < count; i += step) {
    progress.setShare(double(i) / double(count));
    llvm::Expected<std::vector<Tensor>> expected =
        withTensors ? model.runFloat(i) : model.runFloatOutputs(i);
    if (!expected)
      return fail(expected.takeError(), ExitCode::ownFault);
    llvm::Expected<std::vector<Tensor>> actual =
        quantized.run(model.getSamples()[i].inputs,
                      fmt::format("sample {} of {}", i + 1, count));
    if (!actual)
      return fail(actual.takeError(), ExitCode::ownFault);
    if (withTensors)
      compareTensors(*expected, *actual);
    for (size_t o = 0; withOutputs && o < ports.size(); ++o)
      compareOutput((*expected)[ports[o].first], (*actual)[ports[o].second],
                    evaluation.outputs[o]);
  }
  return ExitCode::done;
}

/// Builds the quantized model. If `withTensors`, it also stores its tensors.
ExitCode Evaluator::open(bool withTensors) {
  llvm::Expected<std::string> text =
      model.print(withTensors ? &observed : nullptr);
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  const QuantizeSettings &settings = model.getSettings();
  return quantized.open(*text, "quantized", settings.model, settings.compiler,
                        settings.threads, &model.getFloatModel());
}

ExitCode Evaluator::run() {
  bool withTensors = compared == Compared::tensors;
  if (withTensors && model.getSamples().size() > kTensorSamples) {
    if (ExitCode code = open(true); code != ExitCode::done)
      return code;
    if (ExitCode code = runSamples(true, false); code != ExitCode::done)
      return code;
    withTensors = false;
  }
  if (ExitCode code = open(withTensors); code != ExitCode::done)
    return code;
  llvm::Expected<std::string> text = model.printFile();
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  plain = std::move(*text);
  evaluation.bytes = int64_t(plain.size());
  describeOutputs();
  if (ExitCode code = runSamples(withTensors, true); code != ExitCode::done)
    return code;
  const QuantizeSettings &settings = model.getSettings();
  if (!settings.metric.empty())
    return scoreByCommand(settings.metric, settings.model.model, plain,
                          evaluation, model.getExtension());
  accuracy::scoreOutputs(evaluation.outputs, evaluation);
  return ExitCode::done;
}

double getNoise(const Evaluation &evaluation) {
  double sum = 0;
  for (const OutputNoise &output : evaluation.outputs)
    sum += output.noise.getRatio();
  return evaluation.outputs.empty() ? 0
                                    : sum / double(evaluation.outputs.size());
}

ExitCode evaluate(RunnableModel &model, Compared compared,
                  Evaluation &evaluation) {
  return Evaluator(model, compared, evaluation).run();
}

} // namespace nnc::tools
