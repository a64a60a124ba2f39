//===- HuffmanCodes.h - Canonical codes of symbols --------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMANCODES_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMANCODES_H

#include "dialects/nn/stored_weights/forms/StoredWriters.h"

namespace nnc::stored {

/// Canonical Huffman codes of symbols, each of at most `most` bits.
struct HuffmanCodes {
  std::vector<size_t> order; ///< symbols that occur, in order of their codes
  std::vector<uint32_t> reversed; ///< code of each symbol, first bit lowest
  std::vector<int> lengths;       ///< bits of the code of each symbol
  int most = 1;

  HuffmanCodes(llvm::ArrayRef<int64_t> counts, int most);
  /// Returns the codes with the smallest `most`, and thus the smallest table in
  /// the decoder, that take at most 1 % more bits than those with the largest
  /// `most`.
  static HuffmanCodes get(llvm::ArrayRef<int64_t> counts);

  int64_t getBits(llvm::ArrayRef<int64_t> counts) const;
  /// Appends the number of codes of each length from 1 to `most`, in 2 bytes
  /// each.
  void addCounts(std::vector<uint8_t> &bytes) const;
  void write(BitWriter &writer, size_t symbol) const {
    writer.add(reversed[symbol], lengths[symbol]);
  }
};

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMANCODES_H
