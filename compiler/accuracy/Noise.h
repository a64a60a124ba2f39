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

/// The signal and the noise of a tensor: the sum of squares of its elements in
/// the original model, and that of their differences in the edited model.
struct Noise {
  double signal = 0, noise = 0;

  void add(double expected, double actual) {
    signal += expected * expected;
    noise += (expected - actual) * (expected - actual);
  }
  /// Returns the ratio of noise to signal.
  double getRatio() const;
  /// Returns the signal-to-quantization-noise ratio in decibels, or nullopt if
  /// there is no noise.
  std::optional<double> getDecibels() const;
};

/// The difference of an output of the edited model from that of the original
/// one.
struct OutputNoise {
  std::string name;
  Noise noise;
  double largestError = 0, largestExpected = 0;
  /// The number of vectors of class scores, and of those whose largest element
  /// is at the same index in both models. For outputs of integers, the number
  /// of all elements and of those that are equal.
  int64_t vectors = 0, agreeing = 0;
  /// Whether the output looks like scores of classes: it holds floats of shape
  /// [N, C] or [N, C, 1, ...] with at least two classes, is the result of a
  /// softmax, or holds integers, which are chosen classes.
  bool isClassifier = false;

  double getAgreement() const {
    return vectors ? double(agreeing) / double(vectors) : 1;
  }
};

/// A metric of the edited model, that of the original model, and the drop
/// between them.
struct Score {
  std::string metricName; ///< empty if there is no metric
  double floatMetric = 0, metric = 0, drop = 0;
};

/// Returns the description of an output before any comparison. `isSoftmax`
/// tells whether it is the result of a softmax.
OutputNoise describeOutput(std::string name, llvm::ArrayRef<int64_t> shape,
                           bool isFloat, bool isSoftmax);

/// Adds the elements of an output for one sample, `actual`, and those of the
/// original model, `expected`, to `output`. `shape` is that of the expected
/// tensor.
void compareOutput(llvm::ArrayRef<int64_t> shape, bool isFloat,
                   llvm::ArrayRef<double> expected,
                   llvm::ArrayRef<double> actual, OutputNoise &output);

/// Sets the metric to that of the first output: the agreement of argmax if the
/// output looks like scores of classes, else the relative L2 error.
void scoreOutputs(llvm::ArrayRef<OutputNoise> outputs, Score &score);

} // namespace nnc::accuracy

#endif // NNC_COMPILER_ACCURACY_NOISE_H
