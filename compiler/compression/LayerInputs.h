//===- LayerInputs.h - What the weights of a layer multiply -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_LAYERINPUTS_H
#define NNC_COMPILER_COMPRESSION_LAYERINPUTS_H

#include "compiler/compression/InputMoments.h"

namespace nnc::compression {

/// The vectors of a tensor by which the rows of a layer's weights are
/// multiplied: patches of the images that a convolution reads, or rows or
/// columns of the other factor of a matrix product.
struct LayerInputs {
  enum class Kind { convolution, transposed, product };
  /// How `pads` of a convolution are known: given, or derived from the size of
  /// the image so that the result has its size over the stride.
  enum class Padding { given, sameUpper, sameLower };

  Kind kind = Kind::product;
  /// Into how many groups the rows of the weights are divided by what they
  /// multiply.
  int64_t groups = 1;
  /// The integer that stands for zero in a tensor of integers.
  float zeroPoint = 0;

  /// Attributes of a convolution along its spatial axes; `pads` has those at
  /// the begins of all axes, then those at the ends.
  std::vector<int64_t> kernel, strides, dilations, pads;
  Padding padding = Padding::given;

  /// Leading axes of the weights of a product of several matrices.
  std::vector<int64_t> batch;
  /// Whether a vector of a product has elements along the last but one axis of
  /// the tensor, not along the last.
  bool alongColumns = false;

  /// Adds vectors of a tensor of shape `shape`, at most `most` for each group;
  /// where there are more, they are taken from all over the tensor.
  void add(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values,
           int64_t most, compression::InputMoments &moments) const;

private:
  struct Window;

  Window getWindow(llvm::ArrayRef<int64_t> shape) const;
  void addPatches(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values,
                  int64_t most, compression::InputMoments &moments) const;
  void addVectors(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values,
                  int64_t most, compression::InputMoments &moments) const;
};

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_LAYERINPUTS_H
