//===- InputMoments.h - Second moments of a layer's inputs ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_INPUTMOMENTS_H
#define NNC_COMPILER_COMPRESSION_INPUTMOMENTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace nnc::compression {

/// The second moments of the inputs of a layer: the matrix X X^T, in which each
/// column of X is an input vector by which the rows of the weights are
/// multiplied. Up to a factor of 2, it is the Hessian of the squared error of
/// the layer's results. The rows of the weights form `groups` groups of equal
/// size that read different inputs, and each group has a matrix of its own.
/// With more than kMostColumns columns, only diagonal blocks (spans) are kept,
/// whose size is the largest multiple of `multiple` that is at most kSpan.
class InputMoments {
public:
  static constexpr int64_t kMostColumns = 8192, kSpan = 2048;

  InputMoments() = default;
  InputMoments(int64_t groups, int64_t columns, int64_t multiple = 1);

  int64_t getNumGroups() const { return groups; }
  int64_t getNumColumns() const { return columns; }
  int64_t getNumSpans() const { return spans; }
  int64_t getSpanBegin(int64_t span) const { return span * spanColumns; }
  int64_t getSpanSize(int64_t span) const;
  /// Returns whether the whole matrix is kept, not only its diagonal blocks.
  bool isDense() const { return spans == 1; }

  /// Returns the largest number of vectors of a group that are worth adding:
  /// enough to tell the columns apart, at most 32768, and within a bound on the
  /// number of multiplications.
  int64_t getMostVectors() const;
  /// Adds vectors of `columns` elements each, stored one after another, to a
  /// group.
  void add(int64_t group, llvm::ArrayRef<float> vectors);

  /// Returns the symmetric diagonal block of a group and span in row-major
  /// order.
  std::vector<double> getBlock(int64_t group, int64_t span) const;
  /// Returns the sum of squares of a column's inputs in a group.
  double getSquare(int64_t group, int64_t column) const;
  /// Returns the mean of the sums of squares over the columns of a group.
  double getMeanSquare(int64_t group) const;
  /// Returns true if all inputs are 0 or none were added.
  bool isZero() const;

private:
  std::vector<double> &getLower(int64_t group, int64_t span) {
    return lower[group * spans + span];
  }
  const std::vector<double> &getLower(int64_t group, int64_t span) const {
    return lower[group * spans + span];
  }

  int64_t groups = 0, columns = 0, spans = 0, spanColumns = 0;
  /// The lower triangle of each diagonal block, row by row.
  std::vector<std::vector<double>> lower;
};

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_INPUTMOMENTS_H
