//===- StoredPattern.cpp - Weights with N:M sparsity ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredWriters.h"
#include "runtime/routines/stored_weights/decode/plan.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace nnc;
using namespace nnc::stored;

/// Sets the group length for which the entries take the fewest bits, where each
/// group keeps as few elements as possible. Returns false if there is no such
/// group length.
static bool chooseGroup(decode_shape &shape, llvm::ArrayRef<char> bytes,
                        int size, uint32_t skipped, int64_t run) {
  const int64_t count = int64_t(bytes.size()) / size;
  double leastBits = std::numeric_limits<double>::infinity();
  for (int bits = 1; bits <= decode_most_place_bits; ++bits) {
    const int64_t group = int64_t(1) << bits;
    if (run % group != 0)
      break;
    int64_t kept = 0;
    for (int64_t begin = 0; begin < count && kept < group; begin += group) {
      int64_t own = 0;
      for (int64_t i = begin; i < begin + group; ++i)
        own += readElement(bytes, size, i) != skipped;
      kept = std::max(kept, own);
    }
    // The average number of bits per element.
    const double all = double(kept * (shape.value_bits + bits)) / double(group);
    if (kept == 0 || kept == group || all >= leastBits)
      continue;
    leastBits = all;
    shape.block = static_cast<int>(group);
    shape.gaps = static_cast<int>(kept);
    shape.gap_bits = bits;
  }
  return shape.block > 0;
}

std::optional<StoredForm> nnc::stored::storePattern(llvm::ArrayRef<char> bytes,
                                                    int size,
                                                    const Codebook *book,
                                                    int64_t run) {
  const int64_t count = int64_t(bytes.size()) / size;
  const size_t last = book ? book->findMostFrequent() : 0;
  const uint32_t skipped = book ? book->values[last] : 0;
  StoredForm form;
  decode_shape &shape = form.shape;
  shape.form = decode_pattern;
  shape.elements = static_cast<int>(count);
  shape.values = book ? static_cast<int>(book->values.size()) : 1;
  shape.value_bits = book ? getNumberBits(book->values.size()) : 8 * size;
  if ((book && shape.values < 2) ||
      !chooseGroup(shape, bytes, size, skipped, run))
    return std::nullopt;
  const int64_t entries = count / shape.block * shape.gaps;
  if (entries > decode_most_literals)
    return std::nullopt;
  shape.entries = static_cast<int>(entries);

  // The skipped value is the last one of the table.
  if (book)
    for (size_t i = 0; i < book->values.size(); ++i)
      if (i != last)
        addNumber(form.bytes, book->values[i], size);
  addNumber(form.bytes, skipped, size);
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 4));
  std::vector<uint8_t> places;
  BitWriter values(form.bytes), placeWriter(places);
  auto add = [&](int64_t i, int place) {
    placeWriter.add(static_cast<uint32_t>(place), shape.gap_bits);
    if (!book)
      return addNumber(form.bytes, readElement(bytes, size, i), size);
    const size_t code = book->places[i];
    values.add(static_cast<uint32_t>(code == last  ? book->values.size() - 1
                                     : code > last ? code - 1
                                                   : code),
               shape.value_bits);
  };
  for (int64_t begin = 0; begin < count; begin += shape.block) {
    int own = 0;
    for (int i = 0; i < shape.block; ++i)
      own += readElement(bytes, size, begin + i) != skipped;
    // If a group has fewer elements to keep, its first skipped elements also
    // get entries.
    int padding = shape.gaps - own;
    for (int i = 0; i < shape.block; ++i)
      if (readElement(bytes, size, begin + i) != skipped || padding-- > 0)
        add(begin + i, i);
  }
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 4));
  form.bytes.insert(form.bytes.end(), places.begin(), places.end());
  form.bytes.insert(form.bytes.end(), decode_behind, 0);
  return form;
}
