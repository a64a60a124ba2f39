//===- StoredSizes.h - Bytes of weights in compressed forms ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_COMPRESSION_STOREDSIZES_H
#define NNC_DIALECTS_NN_COMPRESSION_STOREDSIZES_H

#include "dialects/nn/compression/Codebook.h"

#include <optional>

namespace nnc::compression {

/// The most values of a table whose numbers are stored instead of the values.
constexpr int64_t kMostValues = 256;
/// The most bits of a gap between entries of a row.
constexpr int kMostGapBits = 8;

/// How often each code and each gap occurs in rows that store entries for their
/// non-zero elements ("relative indexed CSR"). A gap counts the zeros between
/// an entry and the one before it, or the start of the row. Where 2^gapBits
/// zeros or more stand there, entries are put in between whose value is zero
/// and whose gap is the largest; each of them stands for 2^gapBits zeros.
struct EntryCounts {
  std::vector<int64_t> codes, gaps;
  int64_t entries = 0;

  static EntryCounts get(const Codebook &book, const MatrixShape &shape,
                         int gapBits);
};

/// A size in bytes, and the bits of gaps by which it is the smallest.
struct GapSize {
  int64_t bytes = 0;
  int gapBits = 0;
};

/// The bytes that a matrix takes in each form.
struct StoredSizes {
  int64_t elements = 0, zeros = 0;
  int64_t values = 0; ///< distinct ones, at most in a block
  double entropy = 0; ///< of the codes, in bits an element
  int64_t dense = 0;  ///< bytes of the elements as they are
  /// Codes of equally many bits, without padding, and the tables. Nullopt if a
  /// table has more than kMostValues values.
  std::optional<int64_t> codebook;
  /// Entries of a code and a gap, the tables, and the number of the first entry
  /// of each row in 2 bytes, or 4 where there are more entries. Entries have
  /// elements instead of codes, and need no tables, without `codebook` and
  /// where codes would have as many bits.
  GapSize csr;
  /// The CSR form with Huffman codes for codes and gaps, whose lengths take
  /// a byte each. The places of the rows count bits. Nullopt without
  /// `codebook`.
  std::optional<GapSize> huffman;

  /// An element, and a value of a table, takes `elementBytes`: 4 as a 32-bit
  /// float, 1 as an integer of a quantized matrix.
  static StoredSizes get(llvm::ArrayRef<float> matrix, const MatrixShape &shape,
                         int64_t elementBytes);
  /// Returns the bytes of the smallest of the forms.
  int64_t getLeast() const;
};

} // namespace nnc::compression

#endif // NNC_DIALECTS_NN_COMPRESSION_STOREDSIZES_H
