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

/// An operand of a layer that is a constant, or what a DequantizeLinear makes
/// of one.
struct WeightUse {
  int layer, operand;
  int dequantize = -1; ///< number of that node
};

/// A constant that one layer multiplies by, or several.
struct LayerWeights {
  std::string name;
  std::vector<WeightUse> uses;
  MatrixForm form;
  /// What integers stand for; nullopt where the constant is of floats.
  std::optional<WeightScales> scales;

  int getElementBytes() const { return scales ? 1 : 4; }
  /// Returns the elements of the constant as a matrix: floats, or integers
  /// minus their zero point.
  std::vector<float> getMatrix(const ::onnx::TensorProto &tensor) const;
  /// Returns the scale of each element of the matrix; none for floats.
  std::vector<float> getScaleMatrix() const;
  /// Makes such a matrix the constant's elements.
  void store(llvm::ArrayRef<float> matrix, ::onnx::TensorProto &tensor) const;
};

/// Returns the weights that can be compressed, in the order of the nodes that
/// read them first, but for those of nodes in `exclude`. The others get into
/// `left`.
std::vector<LayerWeights>
findWeights(const GraphIndex &index, const std::set<std::string> &exclude,
            std::vector<compression::LeftSummary> &left);

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_LAYERWEIGHTS_H
