//===- Huffman.cpp - Lengths of Huffman codes -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/compression/Huffman.h"

#include <cmath>
#include <functional>
#include <queue>

using namespace nnc::compression;

std::vector<int>
nnc::compression::getHuffmanLengths(llvm::ArrayRef<int64_t> counts) {
  // The nodes of the tree: first the symbols, then each node behind the two
  // that it joins. Of equal counts the node that is older goes first, which
  // makes the longest code as short as it can be.
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

int64_t nnc::compression::getHuffmanBits(llvm::ArrayRef<int64_t> counts) {
  std::vector<int> lengths = getHuffmanLengths(counts);
  int64_t bits = 0;
  for (size_t symbol = 0; symbol < counts.size(); ++symbol)
    bits += counts[symbol] * lengths[symbol];
  return bits;
}

double nnc::compression::getEntropy(llvm::ArrayRef<int64_t> counts) {
  double total = 0, entropy = 0;
  for (int64_t count : counts)
    total += static_cast<double>(count);
  for (int64_t count : counts)
    if (count > 0)
      entropy += static_cast<double>(count) *
                 std::log2(total / static_cast<double>(count));
  return total > 0 ? entropy / total : 0;
}
