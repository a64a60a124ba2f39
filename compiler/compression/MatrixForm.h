//===- MatrixForm.h - Weights of a layer as a matrix ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_MATRIXFORM_H
#define NNC_COMPILER_COMPRESSION_MATRIXFORM_H

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace nnc::compression {

/// The number of elements of a tensor of these sizes.
int64_t getProduct(llvm::ArrayRef<int64_t> sizes);

/// How the weights of a layer become a matrix with a row for each channel of
/// the output and a column for each number that the channel sums over. The
/// columns of a convolution are in the order of the places of the kernel, and
/// at each place in that of the input channels.
class MatrixForm {
public:
  /// The form of filters of shape `dims`, [outputs, inputs, places...].
  static MatrixForm getFilters(llvm::ArrayRef<int64_t> dims);
  /// Returns the matrix form of the filters of a transposed convolution, whose
  /// shape is [input channels, output channels, spatial sizes...]; nullopt if
  /// `groups` does not divide the input channels.
  static std::optional<MatrixForm>
  getTransposedFilters(llvm::ArrayRef<int64_t> dims, int64_t groups);
  /// The form of a matrix, or several of them, of which the last axis is summed
  /// over.
  static MatrixForm getRowMajor(llvm::ArrayRef<int64_t> dims);
  /// The form of a matrix, or several of them, of which the axis before the
  /// last is summed over.
  static MatrixForm getColumnMajor(llvm::ArrayRef<int64_t> dims);

  bool operator==(const MatrixForm &other) const {
    return sizes == other.sizes && order == other.order && rows == other.rows;
  }
  int64_t getRows() const { return rows; }
  int64_t getColumns() const { return columns; }
  /// The number of neighbouring columns that stand for input channels at one
  /// place of a kernel; all of them where there is no kernel.
  int64_t getRunColumns() const { return sizes[1]; }
  std::vector<float> toMatrix(llvm::ArrayRef<float> weights) const;
  std::vector<float> fromMatrix(llvm::ArrayRef<float> matrix) const;

private:
  using Axes = std::array<int64_t, 4>;
  /// The weights have the shape `sizes`, whose second axis is that of the input
  /// channels; the matrix has its axes in `order`, of which the first `rowAxes`
  /// are the rows.
  MatrixForm(Axes sizes, Axes order, int rowAxes);
  /// Calls `visit` with the places of each element in matrix and weights.
  template <class F> void forEachElement(F visit) const;

  Axes sizes, order;
  int64_t rows = 1, columns = 1;
};

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_MATRIXFORM_H
