//===- Huffman.cpp - Lengths of Huffman codes -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/Huffman.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

using namespace nnc::stored;

std::vector<int>
nnc::stored::getHuffmanLengths(llvm::ArrayRef<int64_t> counts) {
  // The nodes of the tree: first the symbols, then each inner node behind its
  // two children. Among nodes of equal counts the oldest is taken first, which
  // minimizes the length of the longest code.
  using Entry = std::pair<int64_t, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (size_t symbol = 0; symbol < counts.size(); ++symbol)
    if (counts[symbol] > 0)
      open.push({counts[symbol], symbol});
  std::vector<size_t> parents(counts.size());
  while (open.size() > 1) {
    Entry first = open.top();
    open.pop();
    Entry second = open.top();
    open.pop();
    size_t joined = parents.size();
    parents[first.second] = parents[second.second] = joined;
    parents.push_back(joined);
    open.push({first.first + second.first, joined});
  }
  std::vector<int> depths(parents.size());
  for (size_t node = parents.size(); node-- > 0;)
    if (parents[node] > node)
      depths[node] = depths[parents[node]] + 1;
  depths.resize(counts.size());
  return depths;
}

std::vector<int> nnc::stored::getLimitedLengths(llvm::ArrayRef<int64_t> counts,
                                                int most) {
  std::vector<int> lengths = getHuffmanLengths(counts);
  std::vector<size_t> symbols;
  for (size_t symbol = 0; symbol < counts.size(); ++symbol)
    if (lengths[symbol] > 0)
      symbols.push_back(symbol);
  // A code of `length` bits takes 2^(most - length) of the 2^most codes of
  // `most` bits.
  int64_t room = int64_t(1) << most;
  for (size_t symbol : symbols) {
    lengths[symbol] = std::min(lengths[symbol], most);
    room -= int64_t(1) << (most - lengths[symbol]);
  }
  // Codes of the rarest symbols are lengthened until the shortened codes fit,
  // then codes of the most frequent symbols are shortened as far as room is
  // left.
  llvm::sort(symbols, [&](size_t a, size_t b) {
    return std::make_pair(counts[a], a) < std::make_pair(counts[b], b);
  });
  for (size_t i = 0; room < 0; i = (i + 1) % symbols.size())
    if (int &length = lengths[symbols[i]]; length < most)
      room += int64_t(1) << (most - ++length);
  for (size_t i = symbols.size(); i-- > 0;)
    for (int &length = lengths[symbols[i]];
         length > 1 && room >= int64_t(1) << (most - length); --length)
      room -= int64_t(1) << (most - length);
  return lengths;
}

int64_t nnc::stored::getHuffmanBits(llvm::ArrayRef<int64_t> counts) {
  std::vector<int> lengths = getHuffmanLengths(counts);
  int64_t bits = 0;
  for (size_t symbol = 0; symbol < counts.size(); ++symbol)
    bits += counts[symbol] * lengths[symbol];
  return bits;
}

double nnc::stored::getEntropy(llvm::ArrayRef<int64_t> counts) {
  double total = 0, entropy = 0;
  for (int64_t count : counts)
    total += static_cast<double>(count);
  for (int64_t count : counts)
    if (count > 0)
      entropy += static_cast<double>(count) *
                 std::log2(total / static_cast<double>(count));
  return total > 0 ? entropy / total : 0;
}
