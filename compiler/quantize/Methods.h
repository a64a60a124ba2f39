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

/// The method that derives the range of an activation from the values that it
/// had during calibration.
enum class Method {
  minmax,     ///< the range includes all values
  percentile, ///< a share of the values is left out, half of it at each end
  /// The least Kullback-Leibler divergence of the quantized from the original
  /// histogram.
  entropy,
  mse, ///< the least mean squared error of quantization
};

/// A histogram of values: their numbers in kBins intervals of equal width.
struct Histogram {
  static constexpr int kBins = 2048;

  explicit Histogram(const Range &range) : range(range), counts(kBins) {}
  /// Adds values, which must lie in the range.
  void add(const float *values, size_t count);
  double getBinWidth() const { return range.getExtent() / kBins; }
  double getCenter(int bin) const {
    return range.low + (bin + 0.5) * getBinWidth();
  }
  int getBin(double value) const;

  Range range; ///< range of all values; includes zero
  std::vector<double> counts;
  /// The number of values that are exactly 0, which `counts` includes. Since
  /// every quantization represents them exactly, methods ignore them. Behind a
  /// ReLU they are often half of all values.
  double zeros = 0;
};

/// Returns the range by which to quantize the values of the histogram.
/// `percentile` is a percentage that only Method::percentile uses.
Range chooseRange(const Histogram &histogram, Method method, double percentile,
                  Storage storage);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_METHODS_H
