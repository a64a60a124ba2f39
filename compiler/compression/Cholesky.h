//===- Cholesky.h - Triangular factors of dense matrices --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_CHOLESKY_H
#define NNC_COMPILER_COMPRESSION_CHOLESKY_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace nnc::compression {

/// A part of a row-major matrix: its first element, and the distance between
/// rows in elements.
template <class T> struct MatrixPart {
  T *first;
  int64_t stride;

  T *getRow(int64_t row) const { return first + row * stride; }
};

/// Subtracts from `c`, rows x columns, the product of `a`, rows x inner, and
/// `b`, inner x columns. `c` must not overlap the others.
void subtractProduct(MatrixPart<double> c, MatrixPart<const double> a,
                     MatrixPart<const double> b, int64_t rows, int64_t inner,
                     int64_t columns);

/// Replaces a symmetric positive definite matrix H, size x size, by the upper
/// triangular matrix U with positive diagonal for which U^T U is the inverse of
/// H. Only the upper triangle of H is read, and the elements below the diagonal
/// are set to 0. Returns false, with undefined elements, if H is not positive
/// definite in double precision.
///
/// U is computed as the inverse of the upper triangular M with M M^T = H, so
/// that the inverse of H itself is never formed. The square of U's element (j,
/// j) is the first diagonal element of the inverse of H without its first j
/// rows and columns.
bool factorInverse(llvm::MutableArrayRef<double> matrix, int64_t size);

/// Solves H x = y. `factor` is the result of factorInverse() for H, and `y` is
/// replaced by x.
void solveByFactor(llvm::ArrayRef<double> factor,
                   llvm::MutableArrayRef<double> y);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_CHOLESKY_H
