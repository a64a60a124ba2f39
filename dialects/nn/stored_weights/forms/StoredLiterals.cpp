//===- StoredLiterals.cpp - Weights that are mostly zero ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredWriters.h"
#include "runtime/routines/stored_weights/decode/plan.h"

#include <limits>
#include <utility>

using namespace nnc;
using namespace nnc::stored;

/// Calls f(gap, element) for each element of a block that is not equal to
/// `skipped`. The gap is the number of skipped elements directly in front of
/// it.
template <class F>
static void forEachGap(llvm::ArrayRef<char> bytes, int size, uint32_t skipped,
                       int64_t begin, int64_t end, F f) {
  int64_t gap = 0;
  for (int64_t i = begin; i < end; ++i)
    if (uint32_t element = readElement(bytes, size, i); element == skipped)
      ++gap;
    else
      f(std::exchange(gap, 0), element);
}

std::optional<StoredForm> nnc::stored::storeLiterals(llvm::ArrayRef<char> bytes,
                                                     int size, uint32_t skipped,
                                                     int64_t length) {
  const int64_t count = int64_t(bytes.size()) / size;
  auto forEachBlock = [&](auto f) {
    for (int64_t begin = 0; begin < count; begin += length)
      f(begin, std::min(begin + length, count));
  };
  // A gap that is too long for its bits is split by entries with the skipped
  // value, each of which covers as many elements as a gap of these bits has
  // values.
  int64_t entries[kMostGapBits + 1] = {};
  forEachBlock([&](int64_t begin, int64_t end) {
    forEachGap(bytes, size, skipped, begin, end, [&](int64_t gap, uint32_t) {
      for (int bits = 1; bits <= kMostGapBits; ++bits)
        entries[bits] += 1 + (gap >> bits);
    });
  });
  int gapBits = 1;
  int64_t leastBits = std::numeric_limits<int64_t>::max();
  for (int bits = 1; bits <= kMostGapBits; ++bits)
    if (int64_t all = entries[bits] * (bits + 8 * size); all < leastBits) {
      leastBits = all;
      gapBits = bits;
    }
  if (leastBits / 8 >= int64_t(bytes.size()) ||
      entries[gapBits] > decode_most_literals)
    return std::nullopt;

  StoredForm form;
  setBlocks(form, decode_literals, count, length);
  form.shape.values = 1;
  form.shape.value_bits = 8 * size;
  form.shape.gap_bits = gapBits;
  form.shape.entries = static_cast<int>(entries[gapBits]);
  const decode_literal_places at(form.shape, size);
  form.bytes.reserve(static_cast<size_t>(at.gaps + leastBits / 8 / size) +
                     decode_behind);
  addNumber(form.bytes, skipped, size);
  form.bytes.resize(at.counts);
  std::vector<uint8_t> values, gaps;
  values.reserve(static_cast<size_t>(form.shape.entries) * size);
  BitWriter writer(gaps);
  forEachBlock([&](int64_t begin, int64_t end) {
    addNumber(form.bytes, static_cast<uint32_t>(values.size() / size), 4);
    forEachGap(bytes, size, skipped, begin, end,
               [&](int64_t gap, uint32_t element) {
                 for (; gap >> gapBits; gap -= int64_t(1) << gapBits) {
                   writer.add((1u << gapBits) - 1, gapBits);
                   addNumber(values, skipped, size);
                 }
                 writer.add(static_cast<uint32_t>(gap), gapBits);
                 addNumber(values, element, size);
               });
  });
  addNumber(form.bytes, static_cast<uint32_t>(values.size() / size), 4);
  form.bytes.insert(form.bytes.end(), values.begin(), values.end());
  form.bytes.insert(form.bytes.end(), gaps.begin(), gaps.end());
  form.bytes.insert(form.bytes.end(), decode_behind, 0);
  return form;
}

bool nnc::stored::hasManyZeros(llvm::ArrayRef<char> bytes, int size) {
  const int64_t count = int64_t(bytes.size()) / size;
  int64_t zeros = 0;
  for (int64_t i = 0; i < count; ++i)
    zeros += readElement(bytes, size, i) == 0;
  return 4 * zeros > count;
}
