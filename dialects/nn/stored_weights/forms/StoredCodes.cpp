//===- StoredCodes.cpp - Weights as indices in tables of values -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredWriters.h"
#include "runtime/routines/stored_weights/decode/plan.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

using namespace nnc;
using namespace nnc::stored;

std::optional<size_t> nnc::stored::getMostValues(const Codebook &book,
                                                 int64_t block, size_t limit) {
  std::vector<int64_t> seenIn(book.values.size(), -1);
  size_t most = 0;
  for (int64_t begin = 0; begin < book.getCount(); begin += block) {
    size_t values = 0;
    for (int64_t i = begin; i < std::min(begin + block, book.getCount()); ++i)
      if (int64_t &last = seenIn[book.places[i]]; last != begin) {
        last = begin;
        ++values;
      }
    if (values > limit)
      return std::nullopt;
    most = std::max(most, values);
  }
  return most;
}

/// Returns the distinct indices of a block's elements, ascending.
static std::vector<uint16_t> findPlaces(const Codebook &book, int64_t begin,
                                        int64_t end) {
  llvm::BitVector seen(book.values.size());
  for (int64_t i = begin; i < end; ++i)
    seen.set(book.places[i]);
  std::vector<uint16_t> places;
  for (unsigned place : seen.set_bits())
    places.push_back(place);
  return places;
}

/// Returns the lengths of blocks to try.
static llvm::SmallVector<int64_t>
getBlockLengths(int64_t count, llvm::ArrayRef<int64_t> runs) {
  llvm::SmallVector<int64_t> blocks(runs);
  for (int64_t run : runs)
    for (int64_t many : {2, 4, 8, 16})
      blocks.push_back(many * run);
  // Short blocks of a large weight are not tried because that takes too long.
  for (int64_t block = count < (1 << 20) ? 64 : 1024; block < count; block *= 2)
    blocks.push_back(block);
  llvm::erase_if(blocks,
                 [&](int64_t block) { return block < 32 || block >= count; });
  // The fields of the shape are ints, and routines add two of them.
  if (count <= (1 << 30))
    blocks.push_back(count);
  llvm::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

std::optional<StoredForm> nnc::stored::storeCodes(const Codebook &book,
                                                  llvm::ArrayRef<int64_t> runs,
                                                  int64_t only) {
  int64_t count = book.getCount();
  llvm::SmallVector<int64_t> blocks =
      only ? llvm::SmallVector<int64_t>{std::min(only, count)}
           : getBlockLengths(count, runs);
  int64_t least = count * book.size;
  StoredForm form;
  for (int64_t block : blocks) {
    std::optional<size_t> values = getMostValues(book, block, kMostPlaces);
    if (!values)
      continue;
    decode_shape shape = {};
    shape.form = decode_codes;
    shape.elements = static_cast<int>(count);
    shape.block = static_cast<int>(block);
    shape.value_bits = getNumberBits(*values);
    // If the block length is given, the table of each block is padded so that
    // the codes behind it begin at a word, unless codes would need more bits
    // for the longer table.
    size_t aligned = llvm::alignTo(*values * book.size, 4) / book.size;
    shape.values = static_cast<int>(
        only ? std::min(aligned, size_t(1) << shape.value_bits) : *values);
    int64_t bytes =
        int64_t(decode_blocks(shape)) * decode_group(shape, book.size) +
        decode_behind_codes(shape);
    // On equal sizes the later, longer blocks win because they decode more
    // elements at a time.
    if (bytes <= least) {
      least = bytes;
      form.shape = shape;
    }
  }
  if (form.shape.block == 0)
    return std::nullopt;
  for (int64_t begin = 0; begin < count; begin += form.shape.block) {
    int64_t end = std::min<int64_t>(begin + form.shape.block, count);
    size_t start = form.bytes.size();
    std::vector<uint16_t> places = findPlaces(book, begin, end);
    for (size_t i = 0; i < size_t(form.shape.values); ++i)
      addNumber(form.bytes, i < places.size() ? book.values[places[i]] : 0,
                book.size);
    std::vector<uint32_t> codes(book.values.size());
    for (auto [code, place] : llvm::enumerate(places))
      codes[place] = static_cast<uint32_t>(code);
    BitWriter writer(form.bytes);
    for (int64_t i = begin; i < end; ++i)
      writer.add(codes[book.places[i]], form.shape.value_bits);
    form.bytes.resize(start + decode_group(form.shape, book.size));
  }
  form.bytes.insert(form.bytes.end(), decode_behind_codes(form.shape), 0);
  return form;
}
