//===- Codebook.h - Weights as numbers of their values ----------*- C++ -*-===//
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

/// The bits of element `i` of 1, 2 or 4 bytes.
inline uint32_t readElement(llvm::ArrayRef<char> bytes, int size, int64_t i) {
  uint32_t bits = 0;
  for (int byte = 0; byte < size; ++byte)
    bits |= uint32_t(uint8_t(bytes[i * size + byte])) << 8 * byte;
  return bits;
}

/// A matrix of weights, row-major: a row holds what an output channel
/// multiplies the inputs by. Each block of `blockRows` rows has a table of
/// values of its own; 0 stands for a single block. The columns consist of runs
/// of `runColumns` for neighbouring input channels, one for each place of a
/// kernel; 0 stands for a single run.
struct MatrixShape {
  int64_t rows = 0, columns = 0, blockRows = 0, runColumns = 0;

  int64_t getNumElements() const { return rows * columns; }
  int64_t getRunColumns() const {
    return runColumns > 0 ? runColumns : columns;
  }
  int64_t getBlockRows() const { return blockRows > 0 ? blockRows : rows; }
};

/// Elements of 1, 2 or 4 bytes as places in a table of their different values,
/// whose number a weight may be stored as.
struct Codebook {
  int size = 0;                 ///< bytes of an element
  std::vector<uint32_t> values; ///< by their bits, ascending
  std::vector<uint16_t> places; ///< of the elements

  /// Returns nullopt if there are more than `most` values, at most 65536.
  static std::optional<Codebook> get(llvm::ArrayRef<char> bytes, int size,
                                     size_t most);
  int64_t getCount() const { return static_cast<int64_t>(places.size()); }
  /// Returns how often each value occurs.
  std::vector<int64_t> countValues() const;
  /// Returns the place of the most frequent value; there are elements.
  size_t findMostFrequent() const;
};

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_CODEBOOK_H
