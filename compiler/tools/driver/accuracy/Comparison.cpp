//===- Comparison.cpp - Noise of an edited model --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/accuracy/Comparison.h"

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"

#include <cmath>
#include <fmt/format.h>

namespace json = llvm::json;

namespace nnc::tools {

OutputNoise describeOutput(const Port &port, bool isSoftmax) {
  return accuracy::describeOutput(port.name, port.shape, isFloat(port.dtype),
                                  isSoftmax);
}

void compareOutput(const Tensor &expected, const Tensor &actual,
                   OutputNoise &output) {
  accuracy::compareOutput(expected.shape, isFloat(expected.dtype),
                          expected.values(), actual.values(), output);
}

/// Runs the user's command on a model and returns the number in the last line
/// of its output.
static llvm::Expected<double> callMetric(const std::string &metric,
                                         const std::string &model) {
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return folder.takeError();
  Progress progress("running " + metric);
  Words command = splitCommand(metric);
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

ExitCode scoreByCommand(const std::string &command,
                        const std::string &floatFile, const std::string &model,
                        Score &score, const char *extension) {
  static std::optional<double> ofFloat;
  score.metricName = command;
  if (!ofFloat) {
    llvm::Expected<double> value = callMetric(command, floatFile);
    if (!value)
      return fail(value.takeError(), ExitCode::usage);
    ofFloat = *value;
  }
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return fail(folder.takeError(), ExitCode::ownFault);
  std::string file = (*folder)->path() + "/edited" + extension;
  if (llvm::Error error = writeTextFile(file, model))
    return fail(std::move(error), ExitCode::ownFault);
  llvm::Expected<double> value = callMetric(command, file);
  if (!value)
    return fail(value.takeError(), ExitCode::usage);
  score.floatMetric = *ofFloat;
  score.metric = *value;
  double reference = std::abs(*ofFloat);
  score.drop = (*ofFloat - *value) / (reference > 0 ? reference : 1);
  return ExitCode::done;
}

namespace {

class ShownSearch : public accuracy::SearchProgress {
public:
  void setSecondsLeft(double seconds) override {
    progress.setSecondsLeft(seconds);
  }

private:
  Progress progress{"choosing how few layers stay as they are"};
};

} // namespace

std::unique_ptr<accuracy::SearchProgress> showSearch() {
  return std::make_unique<ShownSearch>();
}

json::Array toJson(llvm::ArrayRef<OutputNoise> outputs) {
  json::Array array;
  for (const OutputNoise &each : outputs)
    array.push_back(json::Object{
        {"name", each.name},
        {"largest_error", orNull(each.largestError)},
        {"largest_expected", orNull(each.largestExpected)},
        {"sqnr_db", orNull(each.noise.getDecibels())},
        {"agreement", each.vectors ? json::Value(each.getAgreement())
                                   : json::Value(nullptr)},
        {"vectors", each.vectors}});
  return array;
}

std::string formatDecibels(std::optional<double> decibels) {
  return decibels ? fmt::format("{:.1f}", *decibels) : "exact";
}

void print(llvm::ArrayRef<OutputNoise> outputs) {
  Table table(
      {"output", "largest error", "largest value", "SQNR (dB)", "same argmax"});
  for (const OutputNoise &each : outputs)
    table.add({each.name, fmt::format("{:.4g}", each.largestError),
               fmt::format("{:.4g}", each.largestExpected),
               formatDecibels(each.noise.getDecibels()),
               each.vectors
                   ? fmt::format("{} of {}", each.agreeing, each.vectors)
                   : ""});
  table.print();
}

void print(const Score &score) {
  if (!score.metricName.empty())
    printOut("{}: {:.6g} instead of {:.6g}, a drop of {:.3g} %\n",
             score.metricName, score.metric, score.floatMetric,
             100 * score.drop);
}

} // namespace nnc::tools
