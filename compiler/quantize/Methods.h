//===- Methods.h - From observed values to ranges -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_METHODS_H
#define NNC_COMPILER_QUANTIZE_METHODS_H

#include "compiler/quantize/Range.h"

#include <cstddef>
#include <vector>

namespace nnc::quantize {

/// How the range of an activation follows from the values that it had in the
/// calibration.
enum class Method {
  minmax,     ///< all values
  percentile, ///< all but a share of the values, half of it at each end
  entropy,    ///< the least Kullback-Leibler divergence of the two histograms
  mse,        ///< the least mean squared error of quantization
};

/// The numbers of values in intervals of equal width.
struct Histogram {
  static constexpr int kBins = 2048;

  explicit Histogram(const Range &range) : range(range), counts(kBins) {}
  /// Counts values, which lie in the range.
  void add(const float *values, size_t count);
  double getBinWidth() const { return range.getExtent() / kBins; }
  double getCenter(int bin) const {
    return range.low + (bin + 0.5) * getBinWidth();
  }
  int getBin(double value) const;

  Range range; ///< of all values; contains zero
  std::vector<double> counts;
  /// Values that are exactly 0, which `counts` has too. Every quantization
  /// represents them exactly, so that they say nothing about a range. Behind a
  /// ReLU they are often half of all.
  double zeros = 0;
};

/// Returns the range by which to quantize what the histogram counts.
/// `percentile` is a percentage, used by that method alone.
Range chooseRange(const Histogram &histogram, Method method, double percentile,
                  Storage storage);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_METHODS_H
