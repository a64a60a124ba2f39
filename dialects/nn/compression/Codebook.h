//===- Codebook.h - Weights as numbers of values in tables ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_COMPRESSION_CODEBOOK_H
#define NNC_DIALECTS_NN_COMPRESSION_CODEBOOK_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace nnc::compression {

/// Returns whether all values are finite, as the functions of this folder
/// expect.
bool areFinite(llvm::ArrayRef<float> values);

/// A matrix of weights, row-major: a row holds what an output channel
/// multiplies the inputs by. Each block of `blockRows` rows has a table of
/// values of its own; 0 stands for a single block.
struct MatrixShape {
  int64_t rows = 0, columns = 0, blockRows = 0;

  int64_t getNumElements() const { return rows * columns; }
  int64_t getBlockRows() const { return blockRows > 0 ? blockRows : rows; }
};

/// A matrix whose elements are numbers of values in the tables of their blocks.
struct Codebook {
  /// The distinct values of each block, ascending. Where the matrix holds a
  /// zero, each table has 0 first, and the code of zero is 0 everywhere.
  std::vector<std::vector<float>> tables;
  std::vector<uint32_t> codes; ///< of the elements
  bool hasZeros = false;

  static Codebook get(llvm::ArrayRef<float> matrix, const MatrixShape &shape);
  /// Returns the number of values of the longest table.
  int64_t getNumValues() const;
};

} // namespace nnc::compression

#endif // NNC_DIALECTS_NN_COMPRESSION_CODEBOOK_H
