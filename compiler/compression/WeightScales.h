//===- WeightScales.h - Scales and zero points of integers ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_WEIGHTSCALES_H
#define NNC_COMPILER_COMPRESSION_WEIGHTSCALES_H

#include "compiler/quantize/Weights.h"

namespace nnc::compression {

/// The scales and the zero point of integer weights: an integer represents the
/// integer minus the zero point, times the scale of its channel.
struct WeightScales {
  quantize::ChannelShape shape;
  std::vector<float> scales; ///< scale of each channel
  int zeroPoint = 0;

  bool operator==(const WeightScales &other) const;
  /// Returns the scale of each element.
  std::vector<float> getElementScales() const;
};

/// The reason to report for integer weights that cannot be pruned because their
/// zero points differ.
inline constexpr const char *kDifferentZeroPoints =
    "has zero points that differ between channels, so that no integer is zero "
    "in all of them";
/// The reason to report for integer weights that cannot share values because
/// their scales vary within a channel.
inline constexpr const char *kScalesOfBlocks =
    "has scales for blocks, not for channels";

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_WEIGHTSCALES_H
