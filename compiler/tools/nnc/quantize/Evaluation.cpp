//===- Evaluation.cpp - How far a quantized model is from the float one ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Evaluation.h"

#include "compiler/tools/driver/Process.h"
#include "compiler/tools/driver/Terminal.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace nnc::tools {

/// Samples on which tensors are compared that are no outputs: storing all of
/// them takes longer than computing them, and their noise is a mean.
static constexpr size_t kTensorSamples = 32;

double Noise::getRatio() const {
  if (noise == 0)
    return 0;
  return signal > 0 ? noise / signal : HUGE_VAL;
}

std::optional<double> Noise::getDecibels() const {
  double ratio = getRatio();
  if (ratio == 0)
    return std::nullopt;
  // A tensor of zeros that has noise; JSON has no infinity.
  return std::isfinite(ratio) ? -10 * std::log10(ratio) : -999;
}

/// Returns the axis along which the classes of an output would lie.
static size_t getClassAxis(const std::vector<int64_t> &shape) {
  return shape.size() >= 4 ? 1 : shape.size() - 1;
}

static bool looksLikeScores(const Port &port, bool isSoftmax) {
  if (!isFloat(port.dtype))
    return true;
  if (port.shape.size() < 2 || port.shape[getClassAxis(port.shape)] < 2)
    return false;
  return isSoftmax || llvm::all_of(llvm::ArrayRef(port.shape).drop_front(2),
                                   [](int64_t size) { return size == 1; });
}

/// Counts the vectors of scores whose largest elements are at the same place.
static void compareScores(const std::vector<int64_t> &shape,
                          llvm::ArrayRef<double> expected,
                          llvm::ArrayRef<double> actual, OutputNoise &output) {
  size_t axis = getClassAxis(shape);
  int64_t classes = shape[axis], inner = 1;
  for (size_t d = axis + 1; d < shape.size(); ++d)
    inner *= shape[d];
  int64_t outer = int64_t(expected.size()) / (classes * inner);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      auto findBest = [&](llvm::ArrayRef<double> values) {
        int64_t found = 0, base = o * classes * inner + i;
        for (int64_t c = 1; c < classes; ++c)
          if (values[base + c * inner] > values[base + found * inner])
            found = c;
        return found;
      };
      ++output.vectors;
      output.agreeing += findBest(expected) == findBest(actual);
    }
}

static void compareOutput(const Tensor &expected, const Tensor &actual,
                          OutputNoise &output) {
  std::vector<double> wanted = expected.values(), got = actual.values();
  for (size_t i = 0; i < wanted.size(); ++i) {
    output.noise.add(wanted[i], got[i]);
    output.largestError =
        std::max(output.largestError, std::abs(wanted[i] - got[i]));
    output.largestExpected =
        std::max(output.largestExpected, std::abs(wanted[i]));
  }
  if (!isFloat(expected.dtype)) {
    // Integers and truth values are choices already.
    for (size_t i = 0; i < wanted.size(); ++i)
      output.agreeing += wanted[i] == got[i];
    output.vectors += int64_t(wanted.size());
  } else if (expected.shape.size() >= 2 && !wanted.empty()) {
    compareScores(expected.shape, wanted, got, output);
  }
}

namespace {

class Evaluator {
public:
  Evaluator(Session &session, Compared compared, Evaluation &evaluation)
      : session(session), compared(compared), evaluation(evaluation) {}
  ExitCode run();

private:
  ExitCode open(bool withTensors);
  void describeOutputs();
  ExitCode runSamples(bool withTensors, bool withOutputs);
  void compareTensors(const std::vector<Tensor> &expected,
                      const std::vector<Tensor> &actual);
  ExitCode runMetric();
  llvm::Expected<double> callMetric(const std::string &model);
  void useOwnMetric();

  onnx::Quantizer &quantizer() { return session.getQuantizer(); }

  Session &session;
  Compared compared;
  Evaluation &evaluation;
  Executable quantized;
  std::string plain; ///< text of the quantized model
  std::map<std::string, std::string> observed;
  /// The numbers that each of `evaluation.outputs` has in the two models.
  std::vector<std::pair<int, int>> ports;
};

} // namespace

/// The model's own outputs come before those that were added.
void Evaluator::describeOutputs() {
  const std::vector<Port> &outputs = quantized.getManifest().outputs;
  for (size_t i = 0; i < size_t(quantizer().getNumOutputs()); ++i) {
    OutputNoise output;
    output.name = outputs[i].name;
    output.isClassifier =
        looksLikeScores(outputs[i], quantizer().isSoftmax(output.name));
    evaluation.outputs.push_back(output);
    ports.emplace_back(session.getFloatModel().findOutput(output.name), int(i));
  }
}

void Evaluator::compareTensors(const std::vector<Tensor> &expected,
                               const std::vector<Tensor> &actual) {
  bool needsRounding = session.getSettings().maxDrop.has_value();
  for (const auto &[tensor, name] : observed) {
    llvm::ArrayRef<float>
        e = getFloats(expected[session.getFloatModel().findOutput(tensor)]),
        a = getFloats(actual[quantized.findOutput(name)]);
    Noise &noise = evaluation.tensors[tensor];
    for (size_t i = 0; i < e.size(); ++i)
      noise.add(e[i], a[i]);
    if (!needsRounding)
      continue;
    onnx::Parameters parameters = quantizer().getParameters(tensor);
    Noise &rounding = evaluation.rounding[tensor];
    for (float value : e)
      rounding.add(value, parameters.roundTrip(value));
  }
}

/// Compares what is wanted: outputs on all samples, tensors on at most
/// kTensorSamples of them.
ExitCode Evaluator::runSamples(bool withTensors, bool withOutputs) {
  size_t count = session.getSamples().size();
  size_t step = withOutputs ? 1 : (count - 1) / kTensorSamples + 1;
  for (size_t i = 0; i < count; i += step) {
    llvm::Expected<std::vector<Tensor>> expected =
        withTensors ? session.runFloat(i, "comparing")
                    : session.runFloatOutputs(i, "comparing");
    if (!expected)
      return fail(expected.takeError(), ExitCode::ownFault);
    llvm::Expected<std::vector<Tensor>> actual =
        quantized.run(session.getSamples()[i].inputs,
                      fmt::format("comparing: sample {} of {}", i + 1, count));
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

/// Runs the user's command on a model and returns the number in the last line
/// of what it prints.
llvm::Expected<double> Evaluator::callMetric(const std::string &model) {
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return folder.takeError();
  Progress progress("running " + session.getSettings().metric);
  Words command = splitCommand(session.getSettings().metric);
  command.push_back(model);
  if (llvm::Error error = findProgram(command.front()).takeError())
    return error;
  llvm::Expected<std::string> printed =
      runProgram(command, (*folder)->path() + "/metric");
  if (!printed)
    return printed.takeError();
  llvm::StringRef last = llvm::StringRef(*printed).rtrim();
  last = last.substr(last.rfind('\n') + 1).trim();
  double value;
  if (last.getAsDouble(value) || !std::isfinite(value))
    return makeError(fmt::format("--metric: {} printed '{}' last, which is not "
                                 "a number",
                                 quoted(command), displayText(last)));
  return value;
}

ExitCode Evaluator::runMetric() {
  static std::optional<double> ofFloat;
  evaluation.metricName = session.getSettings().metric;
  if (!ofFloat) {
    llvm::Expected<double> value =
        callMetric(session.getSettings().model.model);
    if (!value)
      return fail(value.takeError(), ExitCode::usage);
    ofFloat = *value;
  }
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return fail(folder.takeError(), ExitCode::ownFault);
  std::string file = (*folder)->path() + "/quantized.onnx";
  if (llvm::Error error = writeTextFile(file, plain))
    return fail(std::move(error), ExitCode::ownFault);
  llvm::Expected<double> value = callMetric(file);
  if (!value)
    return fail(value.takeError(), ExitCode::usage);
  evaluation.floatMetric = *ofFloat;
  evaluation.metric = *value;
  double reference = std::abs(*ofFloat);
  evaluation.drop = (*ofFloat - *value) / (reference > 0 ? reference : 1);
  return ExitCode::done;
}

void Evaluator::useOwnMetric() {
  if (evaluation.outputs.empty())
    return;
  const OutputNoise &first = evaluation.outputs.front();
  if (first.isClassifier) {
    evaluation.metricName = "agreement of argmax";
    evaluation.floatMetric = 1;
    evaluation.metric = first.getAgreement();
    evaluation.drop = 1 - evaluation.metric;
    return;
  }
  evaluation.metricName = "relative L2 error";
  evaluation.drop = std::sqrt(first.noise.getRatio());
  evaluation.metric = evaluation.drop;
}

/// Builds the quantized model, which then stores its tensors if that is wanted.
ExitCode Evaluator::open(bool withTensors) {
  llvm::Expected<std::string> text = withTensors
                                         ? quantizer().printQuantized(&observed)
                                         : quantizer().printWithoutShapes();
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  const QuantizeSettings &settings = session.getSettings();
  return quantized.open(*text, "quantized", settings.model, settings.compiler,
                        settings.threads, &session.getFloatModel());
}

ExitCode Evaluator::run() {
  bool withTensors = compared == Compared::tensors;
  if (withTensors && session.getSamples().size() > kTensorSamples) {
    if (ExitCode code = open(true); code != ExitCode::done)
      return code;
    if (ExitCode code = runSamples(true, false); code != ExitCode::done)
      return code;
    withTensors = false;
  }
  if (ExitCode code = open(withTensors); code != ExitCode::done)
    return code;
  llvm::Expected<std::string> text = quantizer().printQuantized();
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  plain = std::move(*text);
  evaluation.bytes = int64_t(plain.size());
  describeOutputs();
  if (ExitCode code = runSamples(withTensors, true); code != ExitCode::done)
    return code;
  if (!session.getSettings().metric.empty())
    return runMetric();
  useOwnMetric();
  return ExitCode::done;
}

ExitCode evaluate(Session &session, Compared compared, Evaluation &evaluation) {
  return Evaluator(session, compared, evaluation).run();
}

} // namespace nnc::tools
