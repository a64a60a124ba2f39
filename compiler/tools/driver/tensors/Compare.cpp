//===- Compare.cpp - Comparison of two results ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/tensors/Compare.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace nnc::tools {

static bool isNarrowInteger(Dtype dtype) {
  return dtype == Dtype::i8 || dtype == Dtype::u8 || dtype == Dtype::i16 ||
         dtype == Dtype::u16;
}

Difference compare(const Tensor &actual, const Tensor &expected,
                   const Tolerance &tolerance) {
  Difference result;
  if (actual.shape != expected.shape) {
    result.elements = result.differing = expected.elements();
    result.largest = INFINITY;
    result.within = false;
    return result;
  }
  bool isReal = isFloat(expected.dtype);
  // Not all 64-bit integers are exact as doubles, so their bytes are compared.
  bool sameBytes = !isReal && actual.data == expected.data;
  std::vector<double> is = actual.values(), wanted = expected.values();
  result.elements = int64_t(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isfinite(wanted[i]))
      result.scale = std::max(result.scale, std::abs(wanted[i]));
    double error = std::abs(is[i] - wanted[i]);
    if (is[i] == wanted[i] || (std::isnan(is[i]) && std::isnan(wanted[i])))
      error = 0;
    else if (std::isnan(error))
      error = INFINITY;
    result.differing += error != 0;
    result.meanSquare += error * error / double(wanted.size());
    if (error > result.largest) {
      result.largest = error;
      result.at = int64_t(i);
      result.expected = wanted[i];
      result.actual = is[i];
    }
  }
  if (!isReal && !(tolerance.ofIntegers && isNarrowInteger(expected.dtype))) {
    result.within = sameBytes;
    return result;
  }
  double range = result.scale > 0 ? result.scale : 1, least = 0;
  if (!isReal && !wanted.empty()) {
    auto [low, high] = std::minmax_element(wanted.begin(), wanted.end());
    range = *high - *low;
    least = 1;
  }
  result.within =
      result.largest <= std::max(least, tolerance.largest * range) &&
      std::sqrt(result.meanSquare) <=
          std::max(least, tolerance.rootMeanSquare * range);
  return result;
}

std::string indexText(int64_t index, const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0;) {
    text = fmt::format("[{}]", index % shape[axis]) + text;
    index /= shape[axis];
  }
  return text;
}

} // namespace nnc::tools
