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
/// the right, and the channels that their elements belong to.
struct LinearWeights {
  /// The meaning of the first two axes of the weights. conv: output channels
  /// and input channels of a group; convTranspose: input channels and output
  /// channels of a group; inputsFirst and outputsFirst: the two axes of a
  /// matrix.
  enum class Kind { conv, convTranspose, inputsFirst, outputsFirst };

  Kind kind = Kind::conv;
  std::vector<int64_t> dims; ///< shape of the weights
  int64_t groups = 1;
  int64_t inputs = 0, outputs = 0; ///< numbers of channels
  std::vector<float> weights;
  /// One value for each output channel; empty if there is no bias.
  std::vector<float> bias;

  /// Sets kind, groups and sizes. Returns false if the shape of the weights
  /// does not fit the kind and the groups.
  bool setShape(Kind kind, std::vector<int64_t> dims, int64_t groups = 1);
  bool isConvolution() const {
    return kind == Kind::conv || kind == Kind::convTranspose;
  }
  /// Return the output channel and the input channel to which an element of the
  /// weights belongs.
  int64_t getOutput(int64_t element) const;
  int64_t getInput(int64_t element) const;
};

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_LINEARWEIGHTS_H
