//===- Methods.cpp - From observed values to ranges -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Methods.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace nnc::quantize;

int Histogram::getBin(double value) const {
  double width = getBinWidth();
  if (!(width > 0))
    return 0;
  return std::clamp(static_cast<int>((value - range.low) / width), 0,
                    kBins - 1);
}

void Histogram::add(const float *values, size_t count) {
  double width = getBinWidth(), perUnit = width > 0 ? 1 / width : 0;
  for (size_t i = 0; i < count; ++i) {
    int bin = static_cast<int>((values[i] - range.low) * perUnit);
    counts[std::clamp(bin, 0, kBins - 1)] += 1;
    zeros += values[i] == 0;
  }
}

/// Returns the counts without the values that are exactly 0.
static std::vector<double> dropZeros(const Histogram &histogram) {
  std::vector<double> counts = histogram.counts;
  double &bin = counts[histogram.getBin(0)];
  bin = std::max(0.0, bin - histogram.zeros);
  return counts;
}

/// Returns the value below which the fraction `share` of all values lies. The
/// values of a bin count as spread evenly over it.
static double findQuantile(const Histogram &histogram, double share) {
  const std::vector<double> &counts = histogram.counts;
  double left = share * std::accumulate(counts.begin(), counts.end(), 0.0);
  for (int bin = 0; bin < Histogram::kBins; ++bin) {
    if (counts[bin] > 0 && left <= counts[bin])
      return histogram.range.low +
             (bin + left / counts[bin]) * histogram.getBinWidth();
    left -= counts[bin];
  }
  return histogram.range.high;
}

static Range choosePercentile(const Histogram &histogram, double percentile) {
  double cut = (1 - percentile / 100) / 2;
  Range range;
  range.include(findQuantile(histogram, cut));
  range.include(findQuantile(histogram, 1 - cut));
  return range;
}

//===----------------------------------------------------------------------===//
// Entropy
//===----------------------------------------------------------------------===//

/// Returns the Kullback-Leibler divergence of the quantized bins [first, last)
/// from all values, where values outside count as clipped to the first or last
/// of these bins. Bins are divided among the levels as evenly as possible; the
/// values of a level count as spread evenly over those of its bins that are not
/// empty.
static double getDivergence(const std::vector<double> &counts, int first,
                            int last) {
  constexpr int levels = 255;
  int bins = last - first;
  auto begin = counts.begin();
  double below = std::accumulate(begin, begin + first, 0.0),
         above = std::accumulate(begin + last, counts.end(), 0.0),
         inside = std::accumulate(begin + first, begin + last, 0.0);
  double total = below + inside + above;
  if (inside <= 0)
    return std::numeric_limits<double>::infinity();
  double divergence = 0;
  for (int level = 0, bin = 0; level < levels; ++level) {
    int end = bin;
    double sum = 0;
    int used = 0;
    for (; end < bins && end * levels / bins == level; ++end) {
      sum += counts[first + end];
      used += counts[first + end] > 0;
    }
    for (; bin < end; ++bin) {
      double count = counts[first + bin];
      double p = count + (bin == 0 ? below : 0) + (bin == bins - 1 ? above : 0);
      if (p <= 0)
        continue;
      // A bin with clipped values only is never the result of quantization. It
      // counts as very unlikely instead of impossible.
      double q = count > 0 ? sum / used / inside : 1e-9;
      divergence += p / total * std::log(p / total / q);
    }
  }
  return divergence;
}

/// Returns the range with the least divergence. Candidates are clipped at the
/// same distance from zero at both ends, in steps of 1/1024 of the larger end,
/// from 1/8 of it on: a narrower range can have fewer bins than there are
/// integers.
static Range chooseEntropy(const Histogram &histogram) {
  std::vector<double> counts = dropZeros(histogram);
  const Range &all = histogram.range;
  double reach = std::max(-all.low, all.high);
  constexpr int steps = Histogram::kBins / 2;
  double least = std::numeric_limits<double>::infinity();
  Range best = all;
  for (int step = steps; step >= steps / 8; --step) {
    double limit = reach * step / steps;
    Range range{std::max(all.low, -limit), std::min(all.high, limit)};
    double width = histogram.getBinWidth();
    int first = static_cast<int>(std::nearbyint((range.low - all.low) / width)),
        last = static_cast<int>(std::nearbyint((range.high - all.low) / width));
    double divergence = getDivergence(counts, first, last);
    if (divergence < least) {
      least = divergence;
      best = range;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Mean squared error
//===----------------------------------------------------------------------===//

static double getSquaredError(const Histogram &histogram,
                              const std::vector<double> &counts,
                              const Range &range, Storage storage) {
  Parameters parameters = getParameters(range, storage);
  double sum = 0;
  for (int bin = 0; bin < Histogram::kBins; ++bin) {
    if (counts[bin] <= 0)
      continue;
    double center = histogram.getCenter(bin),
           error = center - parameters.roundTrip(center);
    sum += counts[bin] * error * error;
  }
  return sum;
}

/// Returns the range with the least squared error, found by shrinking both ends
/// in turn, in steps of 1/64 of the original end, as long as the error falls;
/// to 1/8 of the end at least, for the reason above.
static Range chooseSquaredError(const Histogram &histogram, Storage storage) {
  constexpr int steps = 64;
  std::vector<double> counts = dropZeros(histogram);
  Range best = histogram.range;
  double least = getSquaredError(histogram, counts, best, storage);
  for (int round = 0; round < 3; ++round)
    for (double Range::*end : {&Range::high, &Range::low})
      for (int step = steps; step >= steps / 8; --step) {
        Range range = best;
        range.*end = histogram.range.*end * step / steps;
        if (!range.hasScale())
          continue;
        double error = getSquaredError(histogram, counts, range, storage);
        if (error < least) {
          least = error;
          best = range;
        }
      }
  return best;
}

Range nnc::quantize::chooseRange(const Histogram &histogram, Method method,
                                 double percentile, Storage storage) {
  if (!histogram.range.hasScale())
    return histogram.range;
  Range range = histogram.range;
  switch (method) {
  case Method::minmax:
    return range;
  case Method::percentile:
    range = choosePercentile(histogram, percentile);
    break;
  case Method::entropy:
    range = chooseEntropy(histogram);
    break;
  case Method::mse:
    range = chooseSquaredError(histogram, storage);
    break;
  }
  // If nearly all values of a tensor are zero, its percentile lies among the
  // zeros.
  bool isSound =
      range.hasScale() && range.getExtent() > histogram.getBinWidth();
  return isSound ? range : histogram.range;
}
