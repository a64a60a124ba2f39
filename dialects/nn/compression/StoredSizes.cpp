//===- StoredSizes.cpp - Bytes of weights in compressed forms -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/compression/StoredSizes.h"
#include "dialects/nn/compression/Huffman.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace nnc::compression;

EntryCounts EntryCounts::get(const Codebook &book, const MatrixShape &shape,
                             int gapBits) {
  EntryCounts counts;
  counts.codes.resize(book.getNumValues());
  counts.gaps.resize(size_t(1) << gapBits);
  for (int64_t row = 0; row < shape.rows; ++row) {
    int64_t zeros = 0;
    for (int64_t column = 0; column < shape.columns; ++column) {
      uint32_t code = book.codes[row * shape.columns + column];
      if (book.hasZeros && code == 0) {
        ++zeros;
        continue;
      }
      int64_t fillers = zeros >> gapBits;
      if (fillers > 0) {
        counts.codes[0] += fillers;
        counts.gaps.back() += fillers;
      }
      ++counts.codes[code];
      ++counts.gaps[zeros & ((int64_t(1) << gapBits) - 1)];
      counts.entries += fillers + 1;
      zeros = 0;
    }
  }
  return counts;
}

static int64_t toBytes(int64_t bits) { return (bits + 7) / 8; }

/// Returns the bytes of the places of the rows and of their end.
static int64_t getPlaceBytes(int64_t rows, int64_t end) {
  return (rows + 1) * (end <= UINT16_MAX ? 2 : end <= UINT32_MAX ? 4 : 8);
}

static void improve(GapSize &size, int64_t bytes, int gapBits) {
  if (size.gapBits == 0 || bytes < size.bytes)
    size = {bytes, gapBits};
}

StoredSizes StoredSizes::get(llvm::ArrayRef<float> matrix,
                             const MatrixShape &shape, int64_t elementBytes) {
  Codebook book = Codebook::get(matrix, shape);
  StoredSizes sizes;
  sizes.elements = static_cast<int64_t>(matrix.size());
  sizes.zeros = std::count(matrix.begin(), matrix.end(), 0.f);
  sizes.values = book.getNumValues();
  sizes.dense = sizes.elements * elementBytes;
  std::vector<int64_t> counts(sizes.values);
  for (uint32_t code : book.codes)
    ++counts[code];
  sizes.entropy = getEntropy(counts);

  bool hasBook = sizes.values <= kMostValues;
  int64_t codeBits = 8 * elementBytes, tables = 0;
  if (hasBook) {
    codeBits = sizes.values > 1 ? llvm::Log2_64_Ceil(sizes.values) : 0;
    tables =
        elementBytes * sizes.values * static_cast<int64_t>(book.tables.size());
    sizes.codebook = toBytes(sizes.elements * codeBits) + tables;
    sizes.huffman = GapSize();
  }
  // Codes of as many bits as the elements only add tables.
  int64_t entryTables = codeBits < 8 * elementBytes ? tables : 0;
  for (int bits = 1; bits <= kMostGapBits; ++bits) {
    EntryCounts entries = EntryCounts::get(book, shape, bits);
    improve(sizes.csr,
            toBytes(entries.entries * (codeBits + bits)) + entryTables +
                getPlaceBytes(shape.rows, entries.entries),
            bits);
    if (!hasBook)
      continue;
    int64_t coded =
        getHuffmanBits(entries.codes) + getHuffmanBits(entries.gaps);
    int64_t lengths =
        static_cast<int64_t>(entries.codes.size() + entries.gaps.size());
    improve(*sizes.huffman,
            toBytes(coded) + lengths + tables +
                getPlaceBytes(shape.rows, coded),
            bits);
  }
  return sizes;
}

int64_t StoredSizes::getLeast() const {
  int64_t least = std::min({dense, codebook.value_or(dense), csr.bytes});
  return huffman ? std::min(least, huffman->bytes) : least;
}
