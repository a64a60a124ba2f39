//===- HuffmanCodes.cpp - Canonical codes of symbols ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/HuffmanCodes.h"

#include "dialects/nn/stored_weights/forms/Huffman.h"
#include "runtime/routines/stored_weights/decode/plan.h"

#include <algorithm>

using namespace nnc;
using namespace nnc::stored;

HuffmanCodes::HuffmanCodes(llvm::ArrayRef<int64_t> counts, int most)
    : lengths(getLimitedLengths(counts, most)), most(most) {
  for (size_t symbol = 0; symbol < counts.size(); ++symbol)
    if (counts[symbol] > 0)
      order.push_back(symbol);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_pair(lengths[a], a) < std::make_pair(lengths[b], b);
  });
  reversed.resize(counts.size());
  uint32_t code = 0;
  int length = order.empty() ? 0 : lengths[order.front()];
  for (size_t symbol : order) {
    code <<= lengths[symbol] - length;
    length = lengths[symbol];
    for (int bit = 0; bit < length; ++bit)
      reversed[symbol] |= (code >> bit & 1) << (length - 1 - bit);
    ++code;
  }
}

int64_t HuffmanCodes::getBits(llvm::ArrayRef<int64_t> counts) const {
  int64_t bits = 0;
  for (size_t symbol : order)
    bits += counts[symbol] * lengths[symbol];
  return bits;
}

void HuffmanCodes::addCounts(std::vector<uint8_t> &bytes) const {
  for (int length = 1; length <= most; ++length)
    addNumber(bytes, llvm::count(lengths, length), 2);
}

HuffmanCodes HuffmanCodes::get(llvm::ArrayRef<int64_t> counts) {
  int64_t symbols =
      llvm::count_if(counts, [](int64_t count) { return count > 0; });
  HuffmanCodes best(counts, decode_most_bits);
  int64_t least = best.getBits(counts);
  for (int most = getNumberBits(symbols); most < decode_most_bits; ++most) {
    HuffmanCodes codes(counts, most);
    if (codes.getBits(counts) * 100 <= least * 101)
      return codes;
  }
  return best;
}
