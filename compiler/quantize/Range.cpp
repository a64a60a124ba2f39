//===- Range.cpp - Scales and zero points of activations ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Range.h"

#include <algorithm>
#include <cmath>

using namespace nnc::quantize;

static constexpr double kSteps = 255;

void Range::include(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

void Range::include(const Range &other) {
  include(other.low);
  include(other.high);
}

bool Range::hasScale() const {
  double scale = getExtent() / kSteps;
  return scale >= 0x1p-60 && scale <= 0x1p60;
}

double Parameters::roundTrip(double value) const {
  // The quotient is that of 32-bit floats, as ONNX defines QuantizeLinear.
  double integer =
      std::nearbyint(static_cast<double>(static_cast<float>(value) / scale)) +
      zeroPoint;
  integer = std::clamp<double>(integer, getMin(storage), getMax(storage));
  return (integer - zeroPoint) * static_cast<double>(scale);
}

Parameters nnc::quantize::getParameters(const Range &range, Storage storage) {
  Parameters parameters;
  parameters.storage = storage;
  if (!range.hasScale())
    return parameters;
  parameters.scale = static_cast<float>(range.getExtent() / kSteps);
  double zero =
      getMin(storage) - range.low / static_cast<double>(parameters.scale);
  parameters.zeroPoint = static_cast<int>(std::clamp<double>(
      std::nearbyint(zero), getMin(storage), getMax(storage)));
  return parameters;
}
