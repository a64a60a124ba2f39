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

/// The most values of a table whose numbers are stored instead of the values.
constexpr int64_t kMostValues = 256;

/// The bytes of a stored form with entries, and the bits of their gaps; 0 if
/// all elements have codes.
struct GapSize {
  int64_t bytes = 0;
  int gapBits = 0;
};

/// The bytes that a matrix takes in each form in which nnc stores weights:
/// those of StoredForm::get(). nullopt stands for a form that is not smaller
/// than the elements, or has too many values for its table. In a module weights
/// take a few bytes more where their layout pads them.
struct StoredSizes {
  int64_t elements = 0, zeros = 0;
  int64_t values = 0; ///< distinct ones, at most in a block
  double entropy = 0; ///< of the values of a block, in bits an element
  int64_t dense = 0;  ///< bytes of the elements as they are
  std::optional<int64_t> codebook;
  std::optional<GapSize> csr, huffman;

  /// An element, and a value of a table, takes `elementBytes`: 4 as a 32-bit
  /// float, 1 as an integer of a quantized matrix.
  static StoredSizes get(llvm::ArrayRef<float> matrix, const MatrixShape &shape,
                         int64_t elementBytes);
  /// Returns the bytes of the smallest of the forms.
  int64_t getLeast() const;
};

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDSIZES_H
