//===- LinearWeights.h - Weights of a layer and their channels --*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_LINEARWEIGHTS_H
#define NNC_COMPILER_QUANTIZE_LINEARWEIGHTS_H

#include <cstdint>
#include <vector>

namespace nnc::quantize {

/// The weights and the bias of a convolution or of a product with a matrix on
/// the right, and the channels that they belong to.
struct LinearWeights {
  /// The meaning of the first two axes of the weights: the channels of the
  /// output and of the input of a group, as of convolutions; the channels of
  /// the input and of the output of a group, as of transposed convolutions;
  /// those of a matrix.
  enum class Kind { conv, convTranspose, inputsFirst, outputsFirst };

  Kind kind = Kind::conv;
  std::vector<int64_t> dims; ///< of the weights
  int64_t groups = 1;
  int64_t inputs = 0, outputs = 0; ///< channels
  std::vector<float> weights;
  /// One for each output channel; empty where there is none.
  std::vector<float> bias;

  /// Sets kind, groups and sizes. Returns false if weights of such a shape do
  /// not fit.
  bool setShape(Kind kind, std::vector<int64_t> dims, int64_t groups = 1);
  bool isConvolution() const {
    return kind == Kind::conv || kind == Kind::convTranspose;
  }
  /// The channels of the output and of the input to which an element of the
  /// weights belongs.
  int64_t getOutput(int64_t element) const;
  int64_t getInput(int64_t element) const;
};

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_LINEARWEIGHTS_H
