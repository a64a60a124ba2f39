//===- Equalize.h - Cross-layer equalization --------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_EQUALIZE_H
#define NNC_COMPILER_QUANTIZE_EQUALIZE_H

#include "compiler/quantize/LinearWeights.h"
#include "compiler/quantize/Weights.h"

#include "llvm/ADT/ArrayRef.h"

namespace nnc::quantize {

/// Two layers of which the second is the only reader of the first's result,
/// possibly behind a ReLU.
struct LayerPair {
  LinearWeights *first, *second;
  /// The largest magnitude of the values of each channel between them.
  std::vector<double> ranges;
  bool isScaled = false;
  /// The exponent, to the base 2, of the factor of the second layer's weights
  /// of each channel.
  std::vector<int> exponents = {};
};

/// Scales the channels between two layers so that the weights which compute a
/// channel and those which read it have about the same range (Nagel et al.,
/// "Data-Free Quantization Through Weight Equalization and Bias Correction",
/// 2019, section 4.1). The factors are powers of two, so that the layers
/// compute the same floats as before.
///
/// No channel gets a larger magnitude than the largest of all channels in
/// `ranges`, which would make the integers of all others coarser. A channel
/// whose bias makes its values large is therefore not scaled up. Returns the
/// number of scaled pairs.
int equalize(std::vector<LayerPair> &pairs);

/// Raises `ranges`, the largest absolute value seen in each channel, to include
/// those of `values`, a tensor whose channels `shape` describes.
void widenRanges(std::vector<double> &ranges, const ChannelShape &shape,
                 llvm::ArrayRef<float> values);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_EQUALIZE_H
