//===- KeptWeights.h - Least-squares fit of nonzero weights -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_KEPTWEIGHTS_H
#define NNC_COMPILER_COMPRESSION_KEPTWEIGHTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace nnc::compression {

/// Changes the elements of `values` that are not zero so that the products of
/// each row with the inputs are as near as possible to those of the same row of
/// `own`: a least-squares problem that is solved by at most `steps` steps of
/// conjugate gradients. Both matrices have `rows` rows of `columns` weights.
/// `hessian` is the positive definite Hessian of the columns.
void fitKeptWeights(llvm::MutableArrayRef<double> values,
                    llvm::ArrayRef<double> own, int64_t rows, int64_t columns,
                    llvm::ArrayRef<double> hessian, int steps);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_KEPTWEIGHTS_H
