//===- LayerInputs.h - Vectors that weights multiply ------------*- C++ -*-===//
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
  /// The source of the padding of a convolution: given by `pads`, or derived
  /// from the size of the image so that the size of the result is that of the
  /// image divided by the stride.
  enum class Padding { given, sameUpper, sameLower };

  Kind kind = Kind::product;
  /// The number of groups of rows of the weights that multiply different
  /// vectors.
  int64_t groups = 1;
  /// The integer that represents zero in a tensor of integers.
  float zeroPoint = 0;

  /// The attributes of a convolution along its spatial axes. `pads` has the
  /// padding at the begin of all axes, followed by that at the end.
  std::vector<int64_t> kernel, strides, dilations, pads;
  Padding padding = Padding::given;

  /// The leading axes of the weights, for a product of several matrices.
  std::vector<int64_t> batch;
  /// Whether a vector of a product lies along the last but one axis of the
  /// tensor, not along the last.
  bool alongColumns = false;

  /// Adds vectors of a tensor of shape `shape` to `moments`, at most `most` for
  /// each group. If there are more, they are chosen from all parts of the
  /// tensor.
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
