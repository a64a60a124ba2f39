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

/// The largest magnitude of each channel (axis 1) of values, by the names of
/// the values.
using ChannelRanges = std::map<std::string, std::vector<double>>;

/// The integer types in which activations are stored.
enum class Storage { s8, u8 };

/// Return the least and the largest integer of a storage type.
inline int getMin(Storage storage) { return storage == Storage::s8 ? -128 : 0; }
inline int getMax(Storage storage) {
  return storage == Storage::s8 ? 127 : 255;
}

/// An interval of real numbers that contains zero, so that padding and the
/// zeros of ReLU are represented exactly.
struct Range {
  double low = 0, high = 0;

  /// Extends the range to contain `value`, or all of `other`.
  void include(double value);
  void include(const Range &other);
  double getExtent() const { return high - low; }
  /// Returns false if the scale of the range would lie outside of 2^-60 to
  /// 2^60. Within these bounds, products of two scales are normal 32-bit
  /// floats. Ranges with masks of attention, which are the least float, are
  /// wider, for example.
  bool hasScale() const;
};

/// The parameters of a quantization, in which an integer q represents the real
/// number (q - zeroPoint) * scale.
struct Parameters {
  float scale = 1;
  int zeroPoint = 0;
  Storage storage = Storage::s8;

  /// Returns `value` after it has been quantized, rounding half to even, and
  /// dequantized.
  double roundTrip(double value) const;
};

/// Returns the parameters with which the integers cover the range: asymmetric,
/// with all 255 steps of the storage type, and with zero on an integer.
Parameters getParameters(const Range &range, Storage storage);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_RANGE_H
