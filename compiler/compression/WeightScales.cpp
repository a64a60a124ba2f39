//===- WeightScales.cpp - Scales and zero points of integers --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/WeightScales.h"

#include <cstddef>
#include <tuple>

using namespace nnc::compression;

bool WeightScales::operator==(const WeightScales &other) const {
  auto get = [](const WeightScales &all) {
    return std::tie(all.shape.outer, all.shape.channels, all.shape.inner,
                    all.scales, all.zeroPoint);
  };
  return get(*this) == get(other);
}

std::vector<float> WeightScales::getElementScales() const {
  std::vector<float> all(shape.getNumElements());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = scales[shape.getChannel(static_cast<int64_t>(i))];
  return all;
}
