//===- Noise.h - How far outputs are from those of another model *- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ACCURACY_NOISE_H
#define NNC_COMPILER_ACCURACY_NOISE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nnc::accuracy {

/// The sum of squares of a tensor in the original model, and of its difference
/// in the edited model.
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

/// How far an output of the edited model is from that of the original one.
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

/// One number for a model, beside that of the original model.
struct Score {
  std::string metricName; ///< empty if there is none
  double floatMetric = 0, metric = 0, drop = 0;
};

/// Describes an output before it is compared; `isSoftmax` tells whether it is
/// the result of a softmax.
OutputNoise describeOutput(std::string name, llvm::ArrayRef<int64_t> shape,
                           bool isFloat, bool isSoftmax);

/// Adds what an output is in a sample, and what it should be. `shape` is that
/// of the expected tensor.
void compareOutput(llvm::ArrayRef<int64_t> shape, bool isFloat,
                   llvm::ArrayRef<double> expected,
                   llvm::ArrayRef<double> actual, OutputNoise &output);

/// Scores by the first output: the agreement of argmax if that looks like
/// scores of classes, else the relative L2 error.
void scoreOutputs(llvm::ArrayRef<OutputNoise> outputs, Score &score);

} // namespace nnc::accuracy

#endif // NNC_COMPILER_ACCURACY_NOISE_H
