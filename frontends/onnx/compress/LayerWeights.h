//===- LayerWeights.h - The constants that layers multiply by ---*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_LAYERWEIGHTS_H
#define NNC_FRONTENDS_ONNX_COMPRESS_LAYERWEIGHTS_H

#include "compiler/compression/Compressor.h"
#include "frontends/onnx/compress/MatrixForm.h"
#include "frontends/onnx/compress/WeightScales.h"

namespace nnc::onnx {

/// An operand of a layer that is a constant or the result of a DequantizeLinear
/// of a constant.
struct WeightUse {
  int layer, operand;
  int dequantize = -1; ///< index of the DequantizeLinear, or -1
};

/// A constant by which one or several layers multiply.
struct LayerWeights {
  std::string name;
  std::vector<WeightUse> uses;
  MatrixForm form;
  /// The scales and zero points of integer weights; nullopt for floats.
  std::optional<WeightScales> scales;

  int getElementBytes() const { return scales ? 1 : 4; }
  /// Returns the elements of the constant as a matrix: floats, or integers
  /// minus their zero point.
  std::vector<float> getMatrix(const ::onnx::TensorProto &tensor) const;
  /// Returns the scale of each element of the matrix; empty for floats.
  std::vector<float> getScaleMatrix() const;
  /// Replaces the elements of the constant by a matrix in the form of
  /// getMatrix().
  void store(llvm::ArrayRef<float> matrix, ::onnx::TensorProto &tensor) const;
};

/// Returns the weights that can be compressed, in the order of their first
/// readers, except those of nodes in `exclude`. All other weights are added to
/// `left`.
std::vector<LayerWeights>
findWeights(const GraphIndex &index, const std::set<std::string> &exclude,
            std::vector<compression::LeftSummary> &left);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_LAYERWEIGHTS_H
