//===- Comparison.h - How far an edited model is from the float one -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_ACCURACY_COMPARISON_H
#define NNC_COMPILER_TOOLS_NNC_ACCURACY_COMPARISON_H

#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/manifest/Manifest.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace nnc::tools {

/// Sums of squares of what a tensor is in the float model, and of its
/// difference in the quantized model.
struct Noise {
  double signal = 0, noise = 0;

  void add(double expected, double actual) {
    signal += expected * expected;
    noise += (expected - actual) * (expected - actual);
  }
  /// Returns the noise as a share of the signal.
  double getRatio() const;
  /// Returns the signal-to-quantization-noise ratio in decibels, or nullopt if
  /// there is no noise.
  std::optional<double> getDecibels() const;
};

struct OutputNoise {
  std::string name;
  Noise noise;
  double largestError = 0, largestExpected = 0;
  /// Vectors of class scores, and those of them whose largest element is at the
  /// same place; of integers all elements, and those that are equal.
  int64_t vectors = 0, agreeing = 0;
  /// Whether the output looks like scores of classes: floats of shape [N, C] or
  /// [N, C, 1, ...] with two classes or more, the result of a softmax, or
  /// integers, which are classes that were chosen.
  bool isClassifier = false;

  double getAgreement() const {
    return vectors ? double(agreeing) / double(vectors) : 1;
  }
};

/// One number for a model, beside that of the float model.
struct Score {
  std::string metricName; ///< empty if there is none
  double floatMetric = 0, metric = 0, drop = 0;
};

/// Describes an output before it is compared; `isSoftmax` tells whether it is
/// the result of a softmax.
OutputNoise describeOutput(const Port &output, bool isSoftmax);
/// Adds what an output is in a sample, and what it should be.
void compareOutput(const Tensor &expected, const Tensor &actual,
                   OutputNoise &output);

/// Scores by the first output: the agreement of argmax if that looks like
/// scores of classes, else the relative L2 error.
void scoreOutputs(llvm::ArrayRef<OutputNoise> outputs, Score &score);
/// Scores by the number that a command prints last for a model's file: for
/// `floatFile`, once in a run of nnc, and for a file that holds `model` and
/// whose name ends in `extension`.
ExitCode scoreByCommand(const std::string &command,
                        const std::string &floatFile, const std::string &model,
                        Score &score, const char *extension = ".onnx");

/// Finds the least count from 1 to `high` for which `attempt` says that it is
/// enough; `high` is known to be. Counts that are enough are followed by others
/// that are. It is often a small one: the count doubles until it is enough,
/// and is halved then. The count that was found need not be the last attempt.
ExitCode
findLeastCount(size_t high,
               llvm::function_ref<ExitCode(size_t count, bool &isEnough)>,
               size_t &found);

llvm::json::Array toJson(llvm::ArrayRef<OutputNoise> outputs);
/// Prints the outputs as a table.
void print(llvm::ArrayRef<OutputNoise> outputs);
/// Prints the score, if there is one.
void print(const Score &score);
/// Returns "23.5", or "exact" without noise.
std::string formatDecibels(std::optional<double> decibels);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_ACCURACY_COMPARISON_H
