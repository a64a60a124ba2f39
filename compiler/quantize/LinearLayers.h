//===- LinearLayers.h - Layers of a module that can be edited ---*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_LINEARLAYERS_H
#define NNC_COMPILER_QUANTIZE_LINEARLAYERS_H

#include "compiler/quantize/LinearWeights.h"
#include "dialects/nn/Nn.h"

#include <map>
#include <optional>

namespace nnc::quantize {

/// An nn.conv, nn.conv_transpose, or nn.matmul by a matrix on the right, whose
/// weights are constant 32-bit floats, and the nn.add of a bias behind it.
struct LinearLayer : LinearWeights {
  mlir::Operation *op = nullptr;
  mlir::Operation *biasAdd = nullptr; ///< null where there is none

  /// Returns nullopt for other ops.
  static std::optional<LinearLayer> get(mlir::Operation *op);
  /// The constant that biasAdd adds.
  mlir::Value getBias() const;
  /// The sums of products with the bias.
  mlir::Value getResult() const;
  /// Gives the layer constants of its own with these weights and bias. One
  /// without a bias gets an nn.add if `bias` is not empty. Returns what
  /// getResult() would.
  mlir::Value store();
};

/// The largest magnitude of each channel of values that equalizeModule() may
/// scale, by the numbers of the values (qnn::listValues).
using ValueChannels = std::map<size_t, std::vector<double>>;

/// A value between two layers of a function, of which the second alone reads
/// what the first computes, perhaps behind an nn.relu.
struct EqualizableValue {
  size_t number;
  int64_t axis; ///< of the channels
};
std::vector<EqualizableValue> findEqualizable(mlir::func::FuncOp function);

/// Scales the channels of these values, as equalize() does. Values without
/// ranges are not scaled. Returns how many pairs of layers were scaled.
int equalizeLayers(mlir::func::FuncOp function, const ValueChannels &ranges);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_LINEARLAYERS_H
