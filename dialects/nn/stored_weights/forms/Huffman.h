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

/// Returns the bits of the Huffman code of each symbol, from which the
/// canonical codes follow. `counts` says how often each symbol occurs. A symbol
/// that never occurs has no code, and one that is the only one needs no bits:
/// both have length 0.
std::vector<int> getHuffmanLengths(llvm::ArrayRef<int64_t> counts);

/// Returns the bits of codes of at most `most` bits, for at most 2^most
/// symbols: Huffman's where these are short enough, else others that take few
/// more bits.
std::vector<int> getLimitedLengths(llvm::ArrayRef<int64_t> counts, int most);

/// Returns the bits of all symbols together, each coded by its Huffman code.
int64_t getHuffmanBits(llvm::ArrayRef<int64_t> counts);

/// Returns the entropy of the symbols in bits a symbol; 0 if there are none.
double getEntropy(llvm::ArrayRef<int64_t> counts);

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_HUFFMAN_H
