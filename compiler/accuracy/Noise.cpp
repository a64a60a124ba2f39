//===- Noise.cpp - How far outputs are from those of another model --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/accuracy/Noise.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace nnc::accuracy {

double Noise::getRatio() const {
  if (noise == 0)
    return 0;
  return signal > 0 ? noise / signal : HUGE_VAL;
}

std::optional<double> Noise::getDecibels() const {
  double ratio = getRatio();
  if (ratio == 0)
    return std::nullopt;
  // The ratio is infinite for a tensor of zeros with noise, and JSON has no
  // infinity.
  return std::isfinite(ratio) ? -10 * std::log10(ratio) : -999;
}

/// Returns the axis along which the classes of an output would lie.
static size_t getClassAxis(llvm::ArrayRef<int64_t> shape) {
  return shape.size() >= 4 ? 1 : shape.size() - 1;
}

static bool looksLikeScores(llvm::ArrayRef<int64_t> shape, bool isFloat,
                            bool isSoftmax) {
  if (!isFloat)
    return true;
  if (shape.size() < 2 || shape[getClassAxis(shape)] < 2)
    return false;
  return isSoftmax || llvm::all_of(shape.drop_front(2),
                                   [](int64_t size) { return size == 1; });
}

OutputNoise describeOutput(std::string name, llvm::ArrayRef<int64_t> shape,
                           bool isFloat, bool isSoftmax) {
  OutputNoise output;
  output.name = std::move(name);
  output.isClassifier = looksLikeScores(shape, isFloat, isSoftmax);
  return output;
}

/// Counts the vectors of scores whose largest elements are at the same place.
static void compareScores(llvm::ArrayRef<int64_t> shape,
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

void compareOutput(llvm::ArrayRef<int64_t> shape, bool isFloat,
                   llvm::ArrayRef<double> expected,
                   llvm::ArrayRef<double> actual, OutputNoise &output) {
  for (size_t i = 0; i < expected.size(); ++i) {
    output.noise.add(expected[i], actual[i]);
    output.largestError =
        std::max(output.largestError, std::abs(expected[i] - actual[i]));
    output.largestExpected =
        std::max(output.largestExpected, std::abs(expected[i]));
  }
  if (!isFloat) {
    // Integers and truth values are choices already.
    for (size_t i = 0; i < expected.size(); ++i)
      output.agreeing += expected[i] == actual[i];
    output.vectors += int64_t(expected.size());
  } else if (shape.size() >= 2 && !expected.empty()) {
    compareScores(shape, expected, actual, output);
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

} // namespace nnc::accuracy
