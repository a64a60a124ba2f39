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

/// An nn.conv, an nn.conv_transpose, or an nn.matmul by a matrix on the right,
/// with constant 32-bit float weights, and the nn.add of a bias behind it.
struct LinearLayer : LinearWeights {
  mlir::Operation *op = nullptr;
  mlir::Operation *biasAdd = nullptr; ///< the nn.add of the bias, or null

  /// Returns the layer of `op`, or nullopt for other ops.
  static std::optional<LinearLayer> get(mlir::Operation *op);
  /// Returns the constant that biasAdd adds.
  mlir::Value getBias() const;
  /// Returns the result of the layer: the sums of products with the bias, if
  /// any.
  mlir::Value getResult() const;
  /// Writes the weights and the bias into the IR as constants of this layer's
  /// own. A layer without a bias gets an nn.add if `bias` is not empty. Returns
  /// the result of the layer.
  mlir::Value store();
};

/// The largest magnitude of each channel of the values that equalizeLayers()
/// may scale, by the numbers of the values (qnn::listValues).
using ValueChannels = std::map<size_t, std::vector<double>>;

/// A value between two layers of a function of which the second is the only
/// reader of the first's result, possibly behind an nn.relu.
struct EqualizableValue {
  size_t number;
  int64_t axis; ///< axis of the channels
};
std::vector<EqualizableValue> findEqualizable(mlir::func::FuncOp function);

/// Scales the channels of the values in `ranges`, as equalize() does. Returns
/// the number of scaled pairs of layers.
int equalizeLayers(mlir::func::FuncOp function, const ValueChannels &ranges);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_LINEARLAYERS_H
