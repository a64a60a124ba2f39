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

/// The shape of weights around the axis of their channels: element [o][c][i] is
/// number (o * channels + c) * inner + i. Weights with a single scale have one
/// channel.
struct ChannelShape {
  int64_t outer = 1, channels = 1, inner = 1;

  static ChannelShape get(const std::vector<int64_t> &dims, int64_t axis);
  int64_t getChannel(int64_t element) const {
    return element / inner % channels;
  }
  int64_t getNumElements() const { return outer * channels * inner; }
};

/// The precision of weights that become integers.
struct WeightPrecision {
  bool perChannel = false; ///< a scale for each output channel instead of one
  /// True if weights have 7 bits. Sums of two products with unsigned bytes then
  /// fit in 16 bits.
  bool reduceRange = false;

  /// The largest magnitude of a weight.
  int getLargest() const { return reduceRange ? 64 : 127; }
};

/// Weights as integers of a symmetric range, with the scale of each channel.
struct QuantizedWeights {
  std::vector<int8_t> values;
  std::vector<float> scales;

  /// Returns the real numbers that the integers represent.
  std::vector<float> getReals(const ChannelShape &shape) const;
};

/// Quantizes finite weights symmetrically, to magnitudes of at most `largest`
/// (WeightPrecision::getLargest). The scale of a channel is a normal
/// number, and at least `leastScales[channel]` unless that list is empty. A
/// channel of zeros gets the largest scale of all channels.
QuantizedWeights quantizeWeights(const std::vector<float> &weights,
                                 const ChannelShape &shape,
                                 const std::vector<double> &leastScales,
                                 int largest = 127);

/// Returns for each channel of the weights the least scale with which the
/// biases, in units of the input's scale times the weights', fit in half of the
/// range of 32 bits; the other half is left for the sums. Bias b belongs to
/// channel b modulo `channels`.
std::vector<double> getLeastScales(const std::vector<float> &biases,
                                   int64_t channels, float inputScale);

/// Returns the scale of the bias of each channel, which is the product of the
/// scales of the input and of the weights.
std::vector<float> getBiasScales(const std::vector<float> &weightScales,
                                 float inputScale, int64_t biases);

std::vector<int32_t> quantizeBiases(const std::vector<float> &biases,
                                    const std::vector<float> &scales);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_WEIGHTS_H
