//===- Evaluation.h - How far a quantized model is from the float one -----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_QUANTIZE_EVALUATION_H
#define NNC_TOOLS_NNC_QUANTIZE_EVALUATION_H

#include "compiler/tools/nnc/quantize/Session.h"

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

struct Evaluation {
  std::map<std::string, Noise> tensors;
  /// The noise that rounding and clipping alone adds to each tensor.
  std::map<std::string, Noise> rounding;
  std::vector<OutputNoise> outputs; ///< of the model itself
  std::string metricName;
  double floatMetric = 0, metric = 0, drop = 0;
  int64_t bytes = 0; ///< of the quantized model
};

/// The tensors that an evaluation compares: the outputs alone, which takes less
/// time, or all tensors. Tensors that are not outputs are compared on a part of
/// the samples where there are many.
enum class Compared { outputs, tensors };

/// Runs the quantized model on all samples and compares it with the float one.
ExitCode evaluate(Session &session, Compared compared, Evaluation &evaluation);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_QUANTIZE_EVALUATION_H
