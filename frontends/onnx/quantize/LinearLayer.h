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

/// A node Conv, ConvTranspose, Gemm, or MatMul by a matrix on the right, whose
/// weights are constant 32-bit floats. Operand 1 is its weights, operand 2 its
/// bias.
struct LinearLayer : quantize::LinearWeights {
  int node = -1;
  /// Whether there is no bias, or one that `bias` can hold.
  bool isBiasKnown = true;
  /// Axis of the weights along which they may have scales of their own, or -1.
  int64_t axis = -1;
  /// Whether the bias is added to the sums of products as it is.
  bool isPlain = true;

  /// Returns nullopt for other nodes.
  static std::optional<LinearLayer> get(GraphIndex &index, int node);

  /// Writes weights and bias into constants of the node's own: where another
  /// node has them too, the node gets copies. The index is wrong after that.
  void store(GraphIndex &index, FreshNames &names) const;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_LINEARLAYER_H
