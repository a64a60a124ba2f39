//===- Weights.h - Weights and biases as integers -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_WEIGHTS_H
#define NNC_COMPILER_QUANTIZE_WEIGHTS_H

#include <cstdint>
#include <vector>

namespace nnc::quantize {

/// The sizes of weights around the axis of their channels: the element of
/// channel c is number (o * channels + c) * inner + i. One channel stands for
/// weights with a single scale.
struct ChannelShape {
  int64_t outer = 1, channels = 1, inner = 1;

  static ChannelShape get(const std::vector<int64_t> &dims, int64_t axis);
  int64_t getChannel(int64_t element) const {
    return element / inner % channels;
  }
  int64_t getNumElements() const { return outer * channels * inner; }
};

/// Weights as integers from -127 to 127, and the scale of each channel.
struct QuantizedWeights {
  std::vector<int8_t> values;
  std::vector<float> scales;

  /// Returns the numbers that the integers stand for.
  std::vector<float> getReals(const ChannelShape &shape) const;
};

/// Quantizes finite weights symmetrically. A channel's scale is at least
/// `leastScales[channel]`, where that is not empty, and a normal number; that
/// of a channel of zeros is the largest of all.
QuantizedWeights quantizeWeights(const std::vector<float> &weights,
                                 const ChannelShape &shape,
                                 const std::vector<double> &leastScales);

/// Returns for each channel of the weights the least scale by which the biases
/// fit in 32 bits, with half of these to spare for sums, when a bias is a
/// multiple of the input's scale times the weights'. Bias b is that of channel
/// b modulo `channels`.
std::vector<double> getLeastScales(const std::vector<float> &biases,
                                   int64_t channels, float inputScale);

/// The scale of the bias of each channel: the product of those of the input and
/// of the weights.
std::vector<float> getBiasScales(const std::vector<float> &weightScales,
                                 float inputScale, int64_t biases);

std::vector<int32_t> quantizeBiases(const std::vector<float> &biases,
                                    const std::vector<float> &scales);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_WEIGHTS_H
