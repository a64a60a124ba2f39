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

/// Returns the product of sizes: the number of elements of a tensor.
int64_t getProduct(llvm::ArrayRef<int64_t> sizes);

/// The mapping of the weights of a layer to a matrix with a row for each output
/// channel and a column for each product that the channel sums. The columns of
/// a convolution are ordered by the position in the kernel, then by the input
/// channel.
class MatrixForm {
public:
  /// Returns the form of filters of shape `dims`, which is [output channels,
  /// input channels, spatial sizes...].
  static MatrixForm getFilters(llvm::ArrayRef<int64_t> dims);
  /// Returns the matrix form of the filters of a transposed convolution, whose
  /// shape is [input channels, output channels, spatial sizes...]; nullopt if
  /// `groups` does not divide the input channels.
  static std::optional<MatrixForm>
  getTransposedFilters(llvm::ArrayRef<int64_t> dims, int64_t groups);
  /// Returns the form of one or several matrices whose last axis is summed
  /// over.
  static MatrixForm getRowMajor(llvm::ArrayRef<int64_t> dims);
  /// Returns the form of one or several matrices whose last but one axis is
  /// summed over.
  static MatrixForm getColumnMajor(llvm::ArrayRef<int64_t> dims);

  bool operator==(const MatrixForm &other) const {
    return sizes == other.sizes && order == other.order && rows == other.rows;
  }
  int64_t getRows() const { return rows; }
  int64_t getColumns() const { return columns; }
  /// Returns the number of neighbouring columns that belong to one position in
  /// the kernel; the number of all columns if there is no kernel.
  int64_t getRunColumns() const { return sizes[1]; }
  std::vector<float> toMatrix(llvm::ArrayRef<float> weights) const;
  std::vector<float> fromMatrix(llvm::ArrayRef<float> matrix) const;

private:
  using Axes = std::array<int64_t, 4>;
  /// Creates a form for weights of shape `sizes`, whose second axis has the
  /// input channels. The axes of the matrix are those of the weights in the
  /// order `order`; the first `rowAxes` of them form the rows.
  MatrixForm(Axes sizes, Axes order, int rowAxes);
  /// Calls `visit` with the index of each element in the matrix and in the
  /// weights.
  template <class F> void forEachElement(F visit) const;

  Axes sizes, order;
  int64_t rows = 1, columns = 1;
};

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_MATRIXFORM_H
