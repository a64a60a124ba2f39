//===- Weights.h - Constants that layers multiply by ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESS_WEIGHTS_H
#define NNC_COMPILER_COMPRESS_WEIGHTS_H

#include "dialects/nn/Nn.h"
#include "dialects/nn/compression/Codebook.h"
#include "dialects/nn/compression/MatrixForm.h"

#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace nnc::compress {

/// A constant of 32-bit floats that products multiply by: nn.conv,
/// nn.conv_transpose and nn.matmul.
struct Weights {
  nn::ConstantOp constant;
  std::vector<mlir::Operation *> readers;
  compression::MatrixForm form;

  /// Returns the elements as a matrix.
  std::vector<float> getMatrix();
  /// Makes such a matrix the constant's elements.
  void store(llvm::ArrayRef<float> matrix);
  /// Returns the shape of the matrix; `block` rows share a table of values.
  compression::MatrixShape getShape(int64_t block) const;
};

/// A constant that products multiply by, which is not compressed for a reason.
struct LeftWeights {
  nn::ConstantOp constant;
  mlir::Operation *reader;
  std::string reason;
};

/// Returns the weights of a function that can be compressed, in order, but for
/// those of ops whose names in the model are in `exclude`. The others get into
/// `left`.
std::vector<Weights> findWeights(mlir::func::FuncOp function,
                                 const llvm::StringSet<> &exclude,
                                 std::vector<LeftWeights> &left);

} // namespace nnc::compress

#endif // NNC_COMPILER_COMPRESS_WEIGHTS_H
