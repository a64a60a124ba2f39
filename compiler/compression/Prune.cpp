//===- Prune.cpp - Which weights become zero ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Prune.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

using namespace nnc::compression;

/// Sets `count` elements of least magnitude to 0. If `scales` is empty, all
/// scales are 1.
static void dropSmallest(llvm::MutableArrayRef<float> values,
                         llvm::ArrayRef<float> scales, int64_t count) {
  if (count <= 0)
    return;
  auto getMagnitude = [&](size_t i) {
    return std::abs(scales.empty() ? values[i] : values[i] * scales[i]);
  };
  // Elements of equal magnitude are ordered by their indices, so that the
  // result is the same on every machine.
  auto isSmaller = [&](size_t a, size_t b) {
    float first = getMagnitude(a), second = getMagnitude(b);
    return first < second || (first == second && a < b);
  };
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::nth_element(order.begin(), order.begin() + (count - 1), order.end(),
                   isSmaller);
  for (int64_t i = 0; i < count; ++i)
    values[order[i]] = 0;
}

void nnc::compression::pruneToSparsity(llvm::MutableArrayRef<float> values,
                                       double sparsity,
                                       llvm::ArrayRef<float> scales) {
  assert(sparsity >= 0 && sparsity <= 1);
  assert(scales.empty() || scales.size() == values.size());
  dropSmallest(values, scales,
               std::llround(sparsity * static_cast<double>(values.size())));
}

void nnc::compression::pruneToPattern(llvm::MutableArrayRef<float> values,
                                      int64_t columns, Pattern pattern,
                                      llvm::ArrayRef<float> scales) {
  assert(pattern.kept >= 0 && pattern.group > 0);
  assert(scales.empty() || scales.size() == values.size());
  if (columns == 0)
    return;
  for (size_t run = 0; run < values.size(); run += columns)
    for (int64_t start = 0; start < columns; start += pattern.group) {
      int64_t size = std::min(pattern.group, columns - start);
      dropSmallest(values.slice(run + start, size),
                   scales.empty() ? scales : scales.slice(run + start, size),
                   size - pattern.kept);
    }
}
