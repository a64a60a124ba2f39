//===- Codebook.cpp - Weights as numbers of values in tables --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/compression/Codebook.h"

#include <algorithm>
#include <cmath>

using namespace nnc::compression;

bool nnc::compression::areFinite(llvm::ArrayRef<float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

Codebook Codebook::get(llvm::ArrayRef<float> matrix, const MatrixShape &shape) {
  Codebook book;
  book.hasZeros = std::find(matrix.begin(), matrix.end(), 0.f) != matrix.end();
  book.codes.reserve(matrix.size());
  size_t blockSize = shape.getBlockRows() * shape.columns;
  for (size_t start = 0; start < matrix.size(); start += blockSize) {
    llvm::ArrayRef<float> block = matrix.drop_front(start).take_front(
        std::min(blockSize, matrix.size() - start));
    std::vector<float> values;
    for (float value : block)
      if (value != 0)
        values.push_back(value);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    uint32_t first = book.hasZeros ? 1 : 0;
    for (float value : block) {
      auto place = std::lower_bound(values.begin(), values.end(), value);
      book.codes.push_back(
          value == 0 ? 0
                     : first + static_cast<uint32_t>(place - values.begin()));
    }
    if (book.hasZeros)
      values.insert(values.begin(), 0.f);
    book.tables.push_back(std::move(values));
  }
  return book;
}

int64_t Codebook::getNumValues() const {
  size_t most = 0;
  for (const std::vector<float> &table : tables)
    most = std::max(most, table.size());
  return static_cast<int64_t>(most);
}
