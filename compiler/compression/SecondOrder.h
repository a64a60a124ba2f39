//===- SecondOrder.h - Compression that keeps a layer's results -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_SECONDORDER_H
#define NNC_COMPILER_COMPRESSION_SECONDORDER_H

#include "compiler/compression/InputMoments.h"
#include "compiler/compression/Magnitude.h"

namespace nnc::compression {

/// The distance of the products of compressed weights and a layer's inputs from
/// those of its own: ||W X - W' X|| / ||W X||, or 0 where both are 0.
struct OutputErrors {
  double magnitude = 0; ///< of the weights by compressByMagnitude()
  double result = 0;    ///< of the weights that were chosen
};

/// Returns that error for weights `after` instead of `before`. Of moments that
/// are not dense it takes inputs of different spans as unrelated.
double getOutputError(llvm::ArrayRef<float> before, llvm::ArrayRef<float> after,
                      const stored::MatrixShape &shape,
                      llvm::ArrayRef<float> scales,
                      const InputMoments &moments);

/// Reaches the goal so that the products with the inputs change little. Weights
/// become zero where that costs least, and get values of a table, in a single
/// sweep over the columns, in which later columns compensate the errors of
/// earlier ones. The values of a table follow from k-means, where weights count
/// by what an error of theirs costs once it is compensated, and then from least
/// squares on the products for the values that the weights chose; this is
/// repeated as long as it helps.
/// Weights that are zero stay zero. The weights of compressByMagnitude() are
/// taken if no others have a smaller error. `scales` is as there; `moments` has
/// the columns of the matrix, and a number of groups that divides its rows.
OutputErrors compressBySecondOrder(llvm::MutableArrayRef<float> matrix,
                                   const stored::MatrixShape &shape,
                                   llvm::ArrayRef<float> scales,
                                   const InputMoments &moments,
                                   const WeightGoal &goal);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_SECONDORDER_H
