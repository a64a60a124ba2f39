//===- StoredSizes.h - Bytes of weights in compressed forms ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDSIZES_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDSIZES_H

#include "dialects/nn/stored_weights/forms/Codebook.h"

#include <optional>

namespace nnc::stored {

/// The largest number of values in a table, so that an index fits in a byte.
constexpr int64_t kMostValues = 256;

/// The size of a stored form that may have entries: its bytes, and the bits of
/// a gap between entries. `gapBits` is 0 if every element has a code.
struct GapSize {
  int64_t bytes = 0;
  int gapBits = 0;
};

/// The number of bytes that a matrix takes in each form of StoredForm::get().
/// nullopt stands for a form that is not smaller than the elements, or whose
/// table cannot hold all values. In a compiled module, weights take a few bytes
/// more where their layout pads them.
struct StoredSizes {
  int64_t elements = 0, zeros = 0;
  int64_t values = 0; ///< largest number of distinct values in a block
  double entropy = 0; ///< of the values of a block, in bits per element
  int64_t dense = 0;  ///< bytes of the uncompressed elements
  std::optional<int64_t> codebook;
  std::optional<GapSize> csr, huffman;

  /// Returns the sizes of `matrix`. An element, and a value in a table, takes
  /// `elementBytes` bytes: 4 as a 32-bit float, 1 as an integer of a quantized
  /// matrix.
  static StoredSizes get(llvm::ArrayRef<float> matrix, const MatrixShape &shape,
                         int64_t elementBytes);
  /// Returns the bytes of the smallest of the forms.
  int64_t getLeast() const;
};

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDSIZES_H
