//===- Clusters.cpp - Few values for many weights -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// In one dimension, a cluster is a range of the sorted values. An iteration
// finds the ends of the ranges by binary search, and means and errors from
// prefix sums, so that its time hardly depends on the number of weights.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Clusters.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>
#include <vector>

namespace {

/// The largest number of iterations, in case rounding prevents convergence.
constexpr int kMostIterations = 10000;

class Clusters {
public:
  /// Adds a value with a weight. Values must be added in ascending order.
  void add(float value, double weight);

  size_t getNumDistinct() const { return values.size(); }
  /// Finds at most `count` centres.
  void find(size_t count);
  /// Returns the centre of the cluster of a value that was added.
  float getCentre(float value) const;

private:
  /// Assigns each value to the cluster of the nearest centre, or to the lower
  /// of two equally near ones. Returns true if a cluster changed.
  bool assign();
  void iterate();
  bool splitWorst(size_t empty);
  double getMean(size_t cluster) const;
  double getError(size_t cluster) const;
  bool isEmpty(size_t cluster) const {
    return ends[cluster] == getStart(cluster);
  }
  size_t getStart(size_t cluster) const {
    return cluster ? ends[cluster - 1] : 0;
  }

  std::vector<float> values; ///< distinct, ascending
  /// Prefix sums over the values: of their weights, of the weighted values and
  /// of the weighted squares. The last entry is the sum of all.
  std::vector<double> counts{0}, sums{0}, squares{0};
  std::vector<double> centres; ///< ascending
  std::vector<size_t> ends;    ///< end of each cluster, as an index of `values`
};

} // namespace

void Clusters::add(float value, double weight) {
  if (values.empty() || values.back() != value) {
    values.push_back(value);
    for (std::vector<double> *each : {&counts, &sums, &squares})
      each->push_back(each->back());
  }
  double real = static_cast<double>(value);
  counts.back() += weight;
  sums.back() += weight * real;
  squares.back() += weight * real * real;
}

double Clusters::getMean(size_t cluster) const {
  size_t start = getStart(cluster), end = ends[cluster];
  double count = counts[end] - counts[start];
  // Values of weight 0 cause no error, whatever their centre is.
  double mean = count > 0 ? (sums[end] - sums[start]) / count
                          : static_cast<double>(values[start]);
  // Differences of long sums have rounding errors, so that the mean is clamped.
  return std::clamp(mean, static_cast<double>(values[start]),
                    static_cast<double>(values[end - 1]));
}

/// Returns the sum of squared differences from the mean.
double Clusters::getError(size_t cluster) const {
  size_t start = getStart(cluster), end = ends[cluster];
  if (end - start < 2 || counts[end] <= counts[start])
    return 0;
  double sum = sums[end] - sums[start];
  return squares[end] - squares[start] -
         sum * sum / (counts[end] - counts[start]);
}

bool Clusters::assign() {
  bool changed = false;
  for (size_t c = 0; c < centres.size(); ++c) {
    size_t end = values.size();
    if (c + 1 < centres.size()) {
      double middle = (centres[c] + centres[c + 1]) / 2;
      end = std::upper_bound(values.begin(), values.end(), middle,
                             [](double limit, float value) {
                               return limit < static_cast<double>(value);
                             }) -
            values.begin();
    }
    changed |= ends[c] != end;
    ends[c] = end;
  }
  return changed;
}

void Clusters::iterate() {
  for (int i = 0; i < kMostIterations && assign(); ++i)
    for (size_t c = 0; c < centres.size(); ++c)
      if (!isEmpty(c))
        centres[c] = getMean(c);
}

/// Moves the centre of an empty cluster into the cluster with the largest
/// error, which is thereby divided. Returns false if that cluster has a single
/// value.
bool Clusters::splitWorst(size_t empty) {
  size_t worst = 0;
  double most = 0;
  for (size_t c = 0; c < centres.size(); ++c)
    if (double error = getError(c); error > most) {
      most = error;
      worst = c;
    }
  if (most <= 0)
    return false;
  double low = static_cast<double>(values[getStart(worst)]);
  double high = static_cast<double>(values[ends[worst] - 1]);
  double centre = centres[worst];
  centres[worst] = (low + centre) / 2;
  centres[empty] = (centre + high) / 2;
  std::sort(centres.begin(), centres.end());
  return true;
}

void Clusters::find(size_t count) {
  if (values.size() <= count) {
    centres.assign(values.begin(), values.end());
  } else {
    double low = static_cast<double>(values.front());
    double high = static_cast<double>(values.back());
    centres.resize(count);
    for (size_t c = 0; c < count; ++c)
      centres[c] = count == 1 ? low
                              : low + (high - low) * static_cast<double>(c) /
                                          static_cast<double>(count - 1);
  }
  ends.assign(centres.size(), 0);
  iterate();
  // Each round fills an empty cluster. A cluster that becomes empty meanwhile
  // is filled in a later round, if there is one left.
  for (size_t round = 0; round < 2 * count; ++round) {
    size_t empty = 0;
    while (empty < centres.size() && !isEmpty(empty))
      ++empty;
    if (empty == centres.size() || !splitWorst(empty))
      return;
    iterate();
  }
}

float Clusters::getCentre(float value) const {
  size_t index =
      std::lower_bound(values.begin(), values.end(), value) - values.begin();
  size_t cluster =
      std::upper_bound(ends.begin(), ends.end(), index) - ends.begin();
  return static_cast<float>(centres[cluster]);
}

void nnc::compression::shareValues(llvm::MutableArrayRef<float> values,
                                   int clusters,
                                   llvm::ArrayRef<float> weights) {
  assert(clusters >= 2);
  assert(weights.empty() || weights.size() == values.size());
  Clusters found;
  size_t others = values.size() - std::count(values.begin(), values.end(), 0.f);
  if (others == 0)
    return;
  if (weights.empty()) {
    std::vector<float> sorted;
    sorted.reserve(others);
    std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
                 [](float value) { return value != 0; });
    std::sort(sorted.begin(), sorted.end());
    for (float value : sorted)
      found.add(value, 1);
  } else {
    std::vector<std::pair<float, float>> sorted;
    sorted.reserve(others);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0)
        sorted.emplace_back(values[i], weights[i]);
    std::sort(sorted.begin(), sorted.end());
    for (auto [value, weight] : sorted)
      found.add(value, static_cast<double>(weight));
  }
  bool hasZeros = others != values.size();
  size_t count = static_cast<size_t>(clusters) - (hasZeros ? 1 : 0);
  if (found.getNumDistinct() <= count)
    return;
  found.find(count);
  for (float &value : values)
    if (value != 0)
      value = found.getCentre(value);
}
