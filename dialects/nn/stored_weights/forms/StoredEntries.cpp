//===- StoredEntries.cpp - Weights with a dominant value ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/Huffman.h"
#include "dialects/nn/stored_weights/forms/HuffmanCodes.h"

#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace nnc;
using namespace nnc::stored;

namespace {
/// An entry: the number of skipped elements and the value of the element behind
/// them.
struct Entry {
  uint32_t gap;
  size_t place;
};

/// The entries of a weight, by block.
using Entries = std::vector<std::vector<Entry>>;
} // namespace

static Entries findEntries(const Codebook &book, size_t skipped, int64_t length,
                           int gapBits) {
  const uint32_t mostGap = (1u << gapBits) - 1;
  Entries entries;
  for (int64_t begin = 0; begin < book.getCount(); begin += length) {
    std::vector<Entry> &block = entries.emplace_back();
    uint32_t gap = 0;
    for (int64_t i = begin; i < std::min(begin + length, book.getCount());
         ++i) {
      size_t place = book.places[i];
      if (place != skipped) {
        block.push_back({gap, place});
        gap = 0;
      } else if (gap == mostGap) {
        block.push_back({gap, skipped});
        gap = 0;
      } else {
        ++gap;
      }
    }
    // Skipped elements at the end of a block need no entry.
    while (!block.empty() && block.back().place == skipped)
      block.pop_back();
  }
  return entries;
}

static int64_t countEntries(const Entries &entries) {
  int64_t count = 0;
  for (const std::vector<Entry> &block : entries)
    count += int64_t(block.size());
  return count;
}

static StoredForm makeForm(int number, const Codebook &book, int64_t length,
                           const Entries &entries) {
  StoredForm form;
  setBlocks(form, number, book.getCount(), length);
  form.shape.entries = static_cast<int>(countEntries(entries));
  return form;
}

StoredForm nnc::stored::storeEntries(const Codebook &book, int64_t length) {
  size_t skipped = book.findMostFrequent();
  int valueBits = getNumberBits(book.values.size());
  Entries best;
  int64_t leastBits = std::numeric_limits<int64_t>::max();
  int gapBits = 1;
  for (int bits = 1; bits <= kMostGapBits; ++bits) {
    Entries entries = findEntries(book, skipped, length, bits);
    int64_t all = countEntries(entries) * (bits + valueBits);
    if (all < leastBits) {
      leastBits = all;
      best = std::move(entries);
      gapBits = bits;
    }
  }
  // The skipped value is the last one of the table.
  std::vector<uint32_t> values = book.values;
  std::swap(values[skipped], values.back());
  std::vector<size_t> moved(values.size());
  std::iota(moved.begin(), moved.end(), 0);
  std::swap(moved[skipped], moved.back());

  StoredForm form = makeForm(decode_entries, book, length, best);
  form.shape.values = static_cast<int>(values.size());
  form.shape.value_bits = valueBits;
  form.shape.gap_bits = gapBits;
  for (uint32_t value : values)
    addNumber(form.bytes, value, book.size);
  addBlocks(form, [&](int64_t begin, int64_t) {
    const std::vector<Entry> &block = best[begin / length];
    addNumber(form.bytes, static_cast<uint32_t>(block.size()), 2);
    BitWriter writer(form.bytes);
    for (const Entry &entry : block) {
      writer.add(entry.gap, gapBits);
      writer.add(static_cast<uint32_t>(moved[entry.place]), valueBits);
    }
  });
  return form;
}

StoredForm nnc::stored::storeHuffmanEntries(const Codebook &book,
                                            int64_t length) {
  size_t skipped = book.findMostFrequent();
  struct Choice {
    Entries entries;
    std::vector<int64_t> gaps, values;
    int64_t bits = std::numeric_limits<int64_t>::max();
  } best;
  for (int gapBits = 2; gapBits <= kMostGapBits; ++gapBits) {
    Choice choice{findEntries(book, skipped, length, gapBits),
                  std::vector<int64_t>(size_t(1) << gapBits),
                  std::vector<int64_t>(book.values.size())};
    for (const std::vector<Entry> &block : choice.entries)
      for (const Entry &entry : block) {
        ++choice.gaps[entry.gap];
        ++choice.values[entry.place];
      }
    int64_t gaps = llvm::count_if(choice.gaps, [](int64_t n) { return n > 0; });
    choice.bits =
        getHuffmanBits(choice.gaps) + getHuffmanBits(choice.values) + 8 * gaps;
    if (choice.bits < best.bits)
      best = std::move(choice);
  }
  HuffmanCodes gaps = HuffmanCodes::get(best.gaps),
               values = HuffmanCodes::get(best.values);
  StoredForm form =
      makeForm(decode_huffman_entries, book, length, best.entries);
  form.shape.values = static_cast<int>(values.order.size()) + 1;
  form.shape.value_bits = values.most;
  form.shape.gaps = static_cast<int>(gaps.order.size());
  form.shape.gap_bits = gaps.most;
  for (size_t symbol : values.order)
    addNumber(form.bytes, book.values[symbol], book.size);
  addNumber(form.bytes, book.values[skipped], book.size);
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 2));
  values.addCounts(form.bytes);
  gaps.addCounts(form.bytes);
  for (size_t gap : gaps.order)
    form.bytes.push_back(uint8_t(gap));
  addBlocks(form, [&](int64_t begin, int64_t) {
    const std::vector<Entry> &block = best.entries[begin / length];
    addNumber(form.bytes, static_cast<uint32_t>(block.size()), 2);
    BitWriter writer(form.bytes);
    for (const Entry &entry : block) {
      gaps.write(writer, entry.gap);
      values.write(writer, entry.place);
    }
  });
  return form;
}
