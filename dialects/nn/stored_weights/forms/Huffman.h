//===- Huffman.h - Lengths of Huffman codes -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMAN_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMAN_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace nnc::stored {

/// Returns the length in bits of the Huffman code of each symbol, from which
/// the canonical codes follow. `counts` says how often each symbol occurs. A
/// symbol that never occurs has no code, and one that is the only one needs no
/// bits: both have length 0.
std::vector<int> getHuffmanLengths(llvm::ArrayRef<int64_t> counts);

/// Returns the length of a prefix code of each symbol, limited to `most` bits,
/// for at most 2^most symbols: the lengths of the Huffman codes if none is
/// longer, otherwise those of a code that takes slightly more bits in total.
std::vector<int> getLimitedLengths(llvm::ArrayRef<int64_t> counts, int most);

/// Returns the total number of bits of all occurrences of the symbols in their
/// Huffman codes.
int64_t getHuffmanBits(llvm::ArrayRef<int64_t> counts);

/// Returns the entropy of the symbols in bits per symbol; 0 if there are none.
double getEntropy(llvm::ArrayRef<int64_t> counts);

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMAN_H
