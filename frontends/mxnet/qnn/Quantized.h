//===- Quantized.h - Quantized tensors --------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// A quantized tensor of MXNet is three values: integers, and the least and the
// largest number that they can stand for. During the import, the first value is
// the numbers that the integers stand for: the result of a qnn.dequantize, or,
// for the 32-bit sums of products, plain floats. Layers of integers come from
// that when the compiler fuses a float op with the quantization around it.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_QNN_QUANTIZED_H
#define NNC_FRONTENDS_MXNET_QNN_QUANTIZED_H

#include "frontends/mxnet/graph/Layer.h"

#include <cmath>

namespace nnc::mxnet {

/// The numbers that the integers of a tensor can stand for.
struct Range {
  double min, max;

  double getLargest() const { return std::max(std::abs(min), std::abs(max)); }
};

/// Returns the number of steps that integers of 8 bits have for the largest
/// number of their range: 127 or 255, and half a step more since MXNet 1.5.
double countSteps(Layer &layer, bool isSigned);

/// Returns the range that calibration found, or nullopt.
std::optional<Range> readCalibrated(Layer &layer);

/// Rounds x to 8 bits of a known range. Sets the results with the range, and
/// returns the first.
mlir::Value quantize(Layer &layer, mlir::Value x, Range range, bool isSigned);

/// Returns the numbers that `x` stands for: x itself if the import holds those,
/// otherwise its integers times the step of the range in inputs `i` and `i +
/// 1`, which may have an element for each slice of the first axis.
mlir::Value asNumbers(Layer &layer, mlir::Value x, size_t i);

/// Gives sums of 32 bits that the operator computed, of which the import holds
/// the numbers. Their range is computed where an operator reads it.
mlir::Value giveNumbers(Layer &layer, mlir::Value y);

/// Returns the quantized type that the numbers `x` were rounded to; null for
/// sums of 32 bits and for ranges that are computed.
mlir::RankedTensorType findType(mlir::Value x);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_QNN_QUANTIZED_H
