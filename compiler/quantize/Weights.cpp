//===- Weights.cpp - Weights and biases as integers -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Weights.h"

#include <algorithm>
#include <cmath>

using namespace nnc::quantize;

/// The least scale of weights. It keeps the products of scales of inputs and
/// weights in the range of normal numbers.
static constexpr double kLeastScale = 0x1p-60;

ChannelShape ChannelShape::get(const std::vector<int64_t> &dims, int64_t axis) {
  ChannelShape shape;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    (axis < 0 || i > axis ? shape.inner
     : i == axis          ? shape.channels
                          : shape.outer) *= dims[i];
  return shape;
}

std::vector<float> QuantizedWeights::getReals(const ChannelShape &shape) const {
  std::vector<float> reals(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    reals[i] = static_cast<float>(values[i]) *
               scales[shape.getChannel(static_cast<int64_t>(i))];
  return reals;
}

QuantizedWeights nnc::quantize::quantizeWeights(
    const std::vector<float> &weights, const ChannelShape &shape,
    const std::vector<double> &leastScales, int largest) {
  std::vector<double> peaks(shape.channels);
  for (size_t i = 0; i < weights.size(); ++i) {
    double &own = peaks[shape.getChannel(static_cast<int64_t>(i))];
    own = std::max(own, std::abs(static_cast<double>(weights[i])));
  }
  double top = *std::max_element(peaks.begin(), peaks.end());
  QuantizedWeights result;
  result.scales.resize(shape.channels);
  for (int64_t c = 0; c < shape.channels; ++c) {
    double scale = (peaks[c] > 0 ? peaks[c] : top) / largest;
    if (top == 0)
      scale = 1;
    if (!leastScales.empty())
      scale = std::max(scale, leastScales[c]);
    result.scales[c] = static_cast<float>(std::max(scale, kLeastScale));
  }
  result.values.resize(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    float scale = result.scales[shape.getChannel(static_cast<int64_t>(i))];
    result.values[i] = static_cast<int8_t>(std::clamp<float>(
        std::nearbyint(weights[i] / scale), -largest, largest));
  }
  return result;
}

std::vector<double>
nnc::quantize::getLeastScales(const std::vector<float> &biases,
                              int64_t channels, float inputScale) {
  std::vector<double> least(channels);
  for (size_t b = 0; b < biases.size(); ++b) {
    double &own = least[b % channels];
    own = std::max(own, std::abs(static_cast<double>(biases[b])) / inputScale /
                            0x1p30);
  }
  return least;
}

std::vector<float>
nnc::quantize::getBiasScales(const std::vector<float> &weightScales,
                             float inputScale, int64_t biases) {
  // If all weights share one scale, the biases do, too.
  if (weightScales.size() == 1)
    return {weightScales[0] * inputScale};
  std::vector<float> scales(biases);
  for (int64_t b = 0; b < biases; ++b)
    scales[b] = weightScales[b % weightScales.size()] * inputScale;
  return scales;
}

std::vector<int32_t>
nnc::quantize::quantizeBiases(const std::vector<float> &biases,
                              const std::vector<float> &scales) {
  std::vector<int32_t> integers(biases.size());
  for (size_t b = 0; b < biases.size(); ++b) {
    double scale = scales[scales.size() == 1 ? 0 : b];
    double integer = std::nearbyint(biases[b] / scale);
    integers[b] =
        static_cast<int32_t>(std::clamp(integer, -0x1p31 + 1, 0x1p31 - 1));
  }
  return integers;
}
