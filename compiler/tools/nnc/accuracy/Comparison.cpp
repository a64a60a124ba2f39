//===- Comparison.cpp - How far an edited model is from the float one -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/accuracy/Comparison.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/nnc/options/Options.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace json = llvm::json;

namespace nnc::tools {

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

OutputNoise describeOutput(const Port &port, bool isSoftmax) {
  OutputNoise output;
  output.name = port.name;
  output.isClassifier = looksLikeScores(port, isSoftmax);
  return output;
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

void compareOutput(const Tensor &expected, const Tensor &actual,
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

void scoreOutputs(llvm::ArrayRef<OutputNoise> outputs, Score &score) {
  if (outputs.empty())
    return;
  const OutputNoise &first = outputs.front();
  if (first.isClassifier) {
    score.metricName = "agreement of argmax";
    score.floatMetric = 1;
    score.metric = first.getAgreement();
    score.drop = 1 - score.metric;
    return;
  }
  score.metricName = "relative L2 error";
  score.drop = std::sqrt(first.noise.getRatio());
  score.metric = score.drop;
}

/// Runs the user's command on a model and returns the number in the last line
/// of what it prints.
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

ExitCode findLeastCount(
    size_t high,
    llvm::function_ref<ExitCode(size_t count, bool &isEnough)> attempt,
    size_t &found) {
  // More than `low` is needed, and `high` is enough.
  size_t low = 0;
  bool isDoubling = true;
  Progress progress("choosing how few layers stay as they are");
  auto start = std::chrono::steady_clock::now();
  for (int done = 0; low + 1 < high; ++done) {
    // The number of attempts that are left is known once the range is halved.
    if (!isDoubling) {
      std::chrono::duration<double> spent =
          std::chrono::steady_clock::now() - start;
      progress.setSecondsLeft(llvm::Log2_64_Ceil(high - low) * spent.count() /
                              done);
    }
    size_t count = isDoubling ? std::min(std::max<size_t>(2 * low, 1), high - 1)
                              : (low + high) / 2;
    bool isEnough = false;
    if (ExitCode code = attempt(count, isEnough); code != ExitCode::done)
      return code;
    (isEnough ? high : low) = count;
    isDoubling &= !isEnough;
  }
  found = high;
  return ExitCode::done;
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
