//===- Range.h - Scales and zero points of activations --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_RANGE_H
#define NNC_COMPILER_QUANTIZE_RANGE_H

#include <map>
#include <string>
#include <vector>

namespace nnc::quantize {

/// The largest magnitude of each channel, axis 1, of values by their names.
using ChannelRanges = std::map<std::string, std::vector<double>>;

/// The integers that activations are stored as.
enum class Storage { s8, u8 };

/// The least and the largest integer of a storage type.
inline int getMin(Storage storage) { return storage == Storage::s8 ? -128 : 0; }
inline int getMax(Storage storage) {
  return storage == Storage::s8 ? 127 : 255;
}

/// An interval of real numbers, which contains zero: padding and the results
/// of ReLU are exact then.
struct Range {
  double low = 0, high = 0;

  /// Extends the range to contain `value`, or all of `other`.
  void include(double value);
  void include(const Range &other);
  double getExtent() const { return high - low; }
  /// Returns false for a range whose scale would lie outside of 2^-60 to 2^60:
  /// the products of two scales are normal numbers of 32 bits inside. Wider are
  /// the masks of attention, for example, which are the least float.
  bool hasScale() const;
};

/// An integer q stands for the real number (q - zeroPoint) * scale.
struct Parameters {
  float scale = 1;
  int zeroPoint = 0;
  Storage storage = Storage::s8;

  /// Returns the number that `value` becomes when it is quantized, rounding
  /// half to even, and dequantized.
  double roundTrip(double value) const;
};

/// Returns the parameters by which the integers cover the range: asymmetric,
/// with the 255 steps of the storage type, and zero exactly on one of them.
Parameters getParameters(const Range &range, Storage storage);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_RANGE_H
