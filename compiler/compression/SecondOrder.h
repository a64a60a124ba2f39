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

/// The relative error of a layer's results with compressed weights W' instead
/// of its own weights W: ||W X - W' X|| / ||W X||, or 0 if both norms are 0.
struct OutputErrors {
  double magnitude = 0; ///< error with compressByMagnitude()
  double result = 0;    ///< error with the chosen weights
};

/// Returns this error for weights `after` instead of `before`. If the moments
/// are not dense, inputs of different spans count as uncorrelated.
double getOutputError(llvm::ArrayRef<float> before, llvm::ArrayRef<float> after,
                      const stored::MatrixShape &shape,
                      llvm::ArrayRef<float> scales,
                      const InputMoments &moments);

/// Compresses `matrix` to reach the goal so that the products with the inputs
/// change little. In a single sweep over the columns, weights become zero where
/// that costs least and get values of a table, while later columns compensate
/// the errors of earlier ones. The values of a table follow from k-means, in
/// which the error of a weight counts by its cost after compensation, and then
/// from least squares on the products for the values that the weights chose;
/// this is repeated as long as the error falls.
///
/// Weights that are zero stay zero. The result is that of compressByMagnitude()
/// if nothing else has a smaller error. `scales` is as in that function.
/// `moments` must have the columns of the matrix and a number of groups that
/// divides its rows.
OutputErrors compressBySecondOrder(llvm::MutableArrayRef<float> matrix,
                                   const stored::MatrixShape &shape,
                                   llvm::ArrayRef<float> scales,
                                   const InputMoments &moments,
                                   const WeightGoal &goal);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_SECONDORDER_H
