//===- Codebook.cpp - Tables of the distinct values of weights ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/Codebook.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace nnc::stored;

bool nnc::stored::areFinite(llvm::ArrayRef<float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

std::optional<Codebook> Codebook::get(llvm::ArrayRef<char> bytes, int size,
                                      size_t most) {
  const int64_t count = int64_t(bytes.size()) / size;
  Codebook book{size, {}, {}};
  llvm::DenseMap<uint64_t, uint16_t> known;
  std::vector<uint16_t> found(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits = readElement(bytes, size, i);
    auto [entry, isNew] = known.try_emplace(bits, known.size());
    if (isNew) {
      if (known.size() > most)
        return std::nullopt;
      book.values.push_back(bits);
    }
    found[i] = entry->second;
  }
  std::vector<uint16_t> sorted(book.values.size());
  std::vector<uint32_t> values = book.values;
  llvm::sort(book.values);
  for (auto [place, bits] : llvm::enumerate(values))
    sorted[place] = llvm::lower_bound(book.values, bits) - book.values.begin();
  book.places.resize(found.size());
  for (auto [i, place] : llvm::enumerate(found))
    book.places[i] = sorted[place];
  return book;
}

std::vector<int64_t> Codebook::countValues() const {
  std::vector<int64_t> counts(values.size());
  for (uint16_t place : places)
    ++counts[place];
  return counts;
}

size_t Codebook::findMostFrequent() const {
  std::vector<int64_t> counts = countValues();
  return std::max_element(counts.begin(), counts.end()) - counts.begin();
}
