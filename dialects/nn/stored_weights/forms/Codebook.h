//===- Codebook.h - Distinct values of weights ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_CODEBOOK_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_CODEBOOK_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace nnc::stored {

/// Returns whether all values are finite, as the functions of this folder
/// expect.
bool areFinite(llvm::ArrayRef<float> values);

/// Returns the bits of element `i` of an array whose elements have `size`
/// bytes: 1, 2 or 4.
inline uint32_t readElement(llvm::ArrayRef<char> bytes, int size, int64_t i) {
  uint32_t bits = 0;
  for (int byte = 0; byte < size; ++byte)
    bits |= uint32_t(uint8_t(bytes[i * size + byte])) << 8 * byte;
  return bits;
}

/// The shape of a row-major matrix of weights, with one row for each output
/// channel. Each block of `blockRows` rows has its own table of values; 0
/// stands for a single block. The columns consist of runs of `runColumns` input
/// channels, one run for each position in the kernel; 0 stands for a single
/// run.
struct MatrixShape {
  int64_t rows = 0, columns = 0, blockRows = 0, runColumns = 0;

  int64_t getNumElements() const { return rows * columns; }
  int64_t getRunColumns() const {
    return runColumns > 0 ? runColumns : columns;
  }
  int64_t getBlockRows() const { return blockRows > 0 ? blockRows : rows; }
};

/// The table of the distinct values of a weight, and the index in this table of
/// each element. An element has 1, 2 or 4 bytes.
struct Codebook {
  int size = 0;                 ///< bytes of an element
  std::vector<uint32_t> values; ///< distinct values as bits, ascending
  std::vector<uint16_t> places; ///< index in `values`, by element

  /// Returns the codebook of `bytes`, or nullopt if there are more than `most`
  /// distinct values. `most` is at most 65536.
  static std::optional<Codebook> get(llvm::ArrayRef<char> bytes, int size,
                                     size_t most);
  int64_t getCount() const { return static_cast<int64_t>(places.size()); }
  /// Returns the number of elements that have each value, in the order of
  /// `values`.
  std::vector<int64_t> countValues() const;
  /// Returns the index of the most frequent value. There must be at least one
  /// element.
  size_t findMostFrequent() const;
};

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_CODEBOOK_H
