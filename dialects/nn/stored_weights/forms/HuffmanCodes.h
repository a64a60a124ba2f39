//===- HuffmanCodes.h - Canonical codes of symbols --------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMANCODES_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMANCODES_H

#include "dialects/nn/stored_weights/forms/StoredWriters.h"

namespace nnc::stored {

/// Canonical codes of symbols, of at most `most` bits.
struct HuffmanCodes {
  std::vector<size_t> order;      ///< symbols with codes, by these
  std::vector<uint32_t> reversed; ///< the codes, by symbol, first bit lowest
  std::vector<int> lengths;       ///< by symbol
  int most = 1;

  HuffmanCodes(llvm::ArrayRef<int64_t> counts, int most);
  /// Makes codes whose longest is so short that the decoder's table is small,
  /// as long as that costs less than a hundredth of the bits.
  static HuffmanCodes get(llvm::ArrayRef<int64_t> counts);

  int64_t getBits(llvm::ArrayRef<int64_t> counts) const;
  /// Writes how many codes there are of each length.
  void addCounts(std::vector<uint8_t> &bytes) const;
  void write(BitWriter &writer, size_t symbol) const {
    writer.add(reversed[symbol], lengths[symbol]);
  }
};

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMANCODES_H
