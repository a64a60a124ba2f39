//===- IntegerClusters.cpp - Few integers for many weights ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A cluster is a range of the sorted distinct integers, and its centre is the
// integer nearest to their weighted mean. Dynamic programming finds the ranges:
// the best k ranges of the first n integers end with a range that follows the
// best k - 1 ranges of the integers before it. The best start of the last range
// never decreases as n grows. Divide and conquer uses this: the start for the
// middle n bounds the starts that are tried for smaller and for larger n.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/IntegerClusters.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace {

class IntegerClusters {
public:
  /// `weights` maps each distinct integer, of which there is at least one, to
  /// the sum of its squared scales.
  explicit IntegerClusters(const std::map<int, double> &weights);

  size_t getNumDistinct() const { return values.size(); }
  /// Returns the centre of each integer for `count` clusters, at most as many
  /// as there are integers.
  std::map<int, int> find(size_t count);

private:
  int getCentre(size_t start, size_t end) const;
  double getError(size_t start, size_t end) const;
  void settle(size_t first, size_t last, size_t low, size_t high);

  std::vector<int> values; ///< distinct, ascending
  /// Prefix sums over the integers: of the weights, of the weighted integers
  /// and of their weighted squares. The last entry is the sum of all.
  std::vector<double> weights, sums, squares;
  size_t zero; ///< index of 0 in `values`, or their number without 0
  /// The least errors of the first n integers with the present number of
  /// clusters (`before`) and with one more (`least`), and the start of the last
  /// of these clusters.
  std::vector<double> before, least;
  std::vector<size_t> starts;
};

} // namespace

IntegerClusters::IntegerClusters(const std::map<int, double> &distinct)
    : weights(1), sums(1), squares(1), zero(distinct.size()) {
  for (auto [value, weight] : distinct) {
    if (value == 0)
      zero = values.size();
    values.push_back(value);
    weights.push_back(weights.back() + weight);
    sums.push_back(sums.back() + weight * value);
    squares.push_back(squares.back() + weight * value * value);
  }
}

/// Returns the centre of the cluster of the integers [start, end).
int IntegerClusters::getCentre(size_t start, size_t end) const {
  if (start <= zero && zero < end)
    return 0;
  double weight = weights[end] - weights[start];
  // Integers whose scales are all zero cause no error, whatever their centre
  // is.
  double mean = weight > 0 ? (sums[end] - sums[start]) / weight
                           : static_cast<double>(values[start]);
  // Differences of long sums have rounding errors, so that the mean is clamped.
  return static_cast<int>(
      std::lround(std::clamp(mean, static_cast<double>(values[start]),
                             static_cast<double>(values[end - 1]))));
}

double IntegerClusters::getError(size_t start, size_t end) const {
  if (end - start == 1)
    return 0;
  double centre = getCentre(start, end);
  return squares[end] - squares[start] -
         centre * (2 * (sums[end] - sums[start]) -
                   centre * (weights[end] - weights[start]));
}

/// Finds the least errors of the first n integers with one more cluster, for n
/// from `first` to `last`, for which the last cluster starts between `low` and
/// `high`.
void IntegerClusters::settle(size_t first, size_t last, size_t low,
                             size_t high) {
  if (first > last)
    return;
  size_t middle = first + (last - first) / 2;
  least[middle] = std::numeric_limits<double>::infinity();
  for (size_t start = low; start <= std::min(high, middle - 1); ++start) {
    double error = before[start] + getError(start, middle);
    if (error < least[middle]) {
      least[middle] = error;
      starts[middle] = start;
    }
  }
  size_t found = starts[middle];
  settle(first, middle - 1, low, found);
  settle(middle + 1, last, found, high);
}

std::map<int, int> IntegerClusters::find(size_t count) {
  size_t size = values.size();
  // Clusters are not empty, so that k of them contain at least k integers.
  std::vector<std::vector<size_t>> all;
  least.assign(size + 1, 0);
  for (size_t n = 1; n <= size; ++n)
    least[n] = getError(0, n);
  starts.assign(size + 1, 0);
  all.push_back(starts);
  for (size_t k = 2; k <= count; ++k) {
    before = least;
    settle(k, size, k - 1, size - 1);
    all.push_back(starts);
  }
  std::map<int, int> centres;
  for (size_t end = size, k = count; k > 0; --k) {
    size_t start = all[k - 1][end];
    int centre = getCentre(start, end);
    for (size_t i = start; i < end; ++i)
      centres[values[i]] = centre;
    end = start;
  }
  return centres;
}

void nnc::compression::shareIntegers(llvm::MutableArrayRef<float> values,
                                     llvm::ArrayRef<float> scales,
                                     int clusters) {
  assert(clusters >= 2 && scales.size() == values.size());
  std::map<int, double> weights;
  for (size_t i = 0; i < values.size(); ++i) {
    double scale = static_cast<double>(scales[i]);
    weights[static_cast<int>(values[i])] += scale * scale;
  }
  if (weights.size() <= static_cast<size_t>(clusters))
    return;
  std::map<int, int> centres =
      IntegerClusters(weights).find(static_cast<size_t>(clusters));
  for (float &value : values)
    value = static_cast<float>(centres[static_cast<int>(value)]);
}
