//===- KeptWeights.h - The best weights beside zeros ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_KEPTWEIGHTS_H
#define NNC_COMPILER_COMPRESSION_KEPTWEIGHTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace nnc::compression {

/// Moves the elements of `values` that are not zero to where each row's
/// products with the inputs are nearest to those of the row of `own`: least
/// squares by conjugate gradients, at most `steps` of them. Both have `rows`
/// rows of `columns` weights; `hessian` is that of the columns, and positive
/// definite.
void fitKeptWeights(llvm::MutableArrayRef<double> values,
                    llvm::ArrayRef<double> own, int64_t rows, int64_t columns,
                    llvm::ArrayRef<double> hessian, int steps);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_KEPTWEIGHTS_H
