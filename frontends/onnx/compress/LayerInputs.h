//===- LayerInputs.h - What the weights of a layer multiply -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H
#define NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H

#include "dialects/nn/compression/InputMoments.h"
#include "frontends/onnx/compress/LayerWeights.h"

namespace nnc::onnx {

/// The vectors that the rows of a layer's weights are multiplied by, as parts
/// of a tensor: patches of the images that a convolution reads, or rows or
/// columns of the other factor of a matrix product.
class LayerInputs {
public:
  /// Returns the vectors of a use of weights whose constant has shape `dims`.
  /// If nothing is known of them, returns nullopt and the reason.
  static std::optional<LayerInputs> get(const GraphIndex &index,
                                        const WeightUse &use,
                                        llvm::ArrayRef<int64_t> dims,
                                        std::string &reason);

  /// The tensor that the vectors are parts of.
  const std::string &getTensor() const { return tensor; }
  /// Into how many groups the rows of the weights are divided by what they
  /// multiply.
  int64_t getNumGroups() const { return groups; }
  /// Adds vectors of a tensor of shape `shape`, at most `most` for each group;
  /// where there are more, they are taken from all over the tensor.
  void add(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values,
           int64_t most, compression::InputMoments &moments) const;

private:
  enum class Kind { convolution, transposed, product, recurrent };
  struct Window;

  Window getWindow(llvm::ArrayRef<int64_t> shape) const;
  void addPatches(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values,
                  int64_t most, compression::InputMoments &moments) const;
  void addVectors(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values,
                  int64_t most, compression::InputMoments &moments) const;

  Kind kind = Kind::product;
  std::string tensor;
  int64_t groups = 1;
  float zeroPoint = 0;
  std::vector<int64_t> kernel, strides, dilations, pads;
  std::string padding; ///< auto_pad
  /// Leading axes of the weights of a product of several matrices.
  std::vector<int64_t> batch;
  /// Whether a vector has elements along the last but one axis of the tensor.
  bool alongColumns = false;
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_COMPRESS_LAYERINPUTS_H
