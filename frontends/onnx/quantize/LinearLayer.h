//===- LinearLayer.h - Layers that multiply by constant weights -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_LINEARLAYER_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_LINEARLAYER_H

#include "compiler/quantize/LinearWeights.h"
#include "frontends/onnx/quantize/GraphIndex.h"

namespace nnc::onnx {

/// A linear layer: a node Conv, ConvTranspose, Gemm or MatMul whose operand 1,
/// the weights, is a constant of 32-bit floats (a matrix for MatMul). Operand 2
/// is the bias.
struct LinearLayer : quantize::LinearWeights {
  int node = -1;
  /// True if the layer has no bias, or a constant one with an element for each
  /// output channel, which `bias` holds.
  bool isBiasKnown = true;
  /// The axis of the weights for per-channel scales, or -1.
  int64_t axis = -1;
  /// True if products and bias have no factors: alpha and beta of a Gemm are 1.
  bool isPlain = true;

  /// Returns the linear layer of a node, or nullopt if the node is not one.
  static std::optional<LinearLayer> get(GraphIndex &index, int node);

  /// Writes weights and bias to constants that only this node reads: if another
  /// node reads them, too, the node gets copies. Invalidates the index.
  void store(GraphIndex &index, FreshNames &names) const;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_LINEARLAYER_H
