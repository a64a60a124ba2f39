//===- StoredForm.cpp - Weights in fewer bytes, without any loss ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/compression/StoredForm.h"

#include "dialects/nn/compression/Huffman.h"
#include "runtime/routines/decode/plan.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

using namespace nnc;
using namespace nnc::compression;

/// The most values in a table, whose places a byte holds.
static constexpr size_t kMostPlaces = 256;
/// The most values of a weight of which a part has a table.
static constexpr size_t kMostValues = 65536;
/// Elements that entries and Huffman codes make independently of others.
static constexpr int64_t kBlock = 4096;
/// The most bits of a gap between entries.
static constexpr int kMostGap = 8;

llvm::StringRef nnc::compression::toString(StoredKind kind) {
  switch (kind) {
  case StoredKind::codebook:
    return "codebook";
  case StoredKind::csr:
    return "csr";
  case StoredKind::huffman:
    return "huffman";
  }
  llvm_unreachable("a kind without a name");
}

llvm::StringRef nnc::compression::getFormName(int64_t form) {
  switch (form) {
  case decode_codes:
    return "codebook";
  case decode_huffman:
    return "huffman";
  case decode_entries:
    return "csr";
  case decode_huffman_entries:
    return "huffman of csr";
  default:
    return "";
  }
}

/// Bits of numbers from 0 to count - 1, 1 at least.
static int getBits(size_t count) {
  return std::max(1, static_cast<int>(llvm::Log2_64_Ceil(count)));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
/// Elements of 1, 2 or 4 bytes as places in a list of their different values.
struct Elements {
  int size;
  std::vector<uint32_t> values; ///< by their bits, ascending
  std::vector<uint16_t> places; ///< of the elements

  int64_t getCount() const { return int64_t(places.size()); }

  /// Returns nothing if there are more than `most` values, at most 65536.
  static std::optional<Elements> get(llvm::ArrayRef<char> bytes, int size,
                                     size_t most) {
    const int64_t count = int64_t(bytes.size()) / size;
    auto getBits = [&](int64_t i) {
      uint32_t bits = 0;
      for (int byte = 0; byte < size; ++byte)
        bits |= uint32_t(uint8_t(bytes[i * size + byte])) << 8 * byte;
      return bits;
    };
    Elements elements{size, {}, {}};
    llvm::DenseMap<uint64_t, uint16_t> known;
    std::vector<uint16_t> found(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      uint32_t bits = getBits(i);
      auto [entry, isNew] = known.try_emplace(bits, known.size());
      if (isNew) {
        if (known.size() > most)
          return std::nullopt;
        elements.values.push_back(bits);
      }
      found[i] = entry->second;
    }
    std::vector<uint16_t> sorted(elements.values.size());
    std::vector<uint32_t> values = elements.values;
    llvm::sort(elements.values);
    for (auto [place, bits] : llvm::enumerate(values))
      sorted[place] =
          llvm::lower_bound(elements.values, bits) - elements.values.begin();
    elements.places.resize(found.size());
    for (auto [i, place] : llvm::enumerate(found))
      elements.places[i] = sorted[place];
    return elements;
  }

  /// How often each value occurs.
  std::vector<int64_t> countValues() const {
    std::vector<int64_t> counts(values.size());
    for (uint16_t place : places)
      ++counts[place];
    return counts;
  }
};

/// Writes bits from the lowest of each byte on.
class BitWriter {
public:
  explicit BitWriter(std::vector<uint8_t> &bytes) : bytes(bytes) {}

  void add(uint32_t bits, int count) {
    for (int i = 0; i < count; ++i, ++used) {
      if (used % 8 == 0)
        bytes.push_back(0);
      bytes.back() |= (bits >> i & 1) << used % 8;
    }
  }

private:
  std::vector<uint8_t> &bytes;
  int64_t used = 0;
};
} // namespace

static void addNumber(std::vector<uint8_t> &bytes, uint32_t number, int size) {
  for (int byte = 0; byte < size; ++byte)
    bytes.push_back(uint8_t(number >> 8 * byte));
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Returns the most values that a block has; nothing if these are more than
/// `limit`.
static std::optional<size_t> getMostValues(const Elements &elements,
                                           int64_t block,
                                           size_t limit = kMostPlaces) {
  std::vector<int64_t> seenIn(elements.values.size(), -1);
  size_t most = 0;
  for (int64_t begin = 0; begin < elements.getCount(); begin += block) {
    size_t values = 0;
    for (int64_t i = begin; i < std::min(begin + block, elements.getCount());
         ++i)
      if (int64_t &last = seenIn[elements.places[i]]; last != begin) {
        last = begin;
        ++values;
      }
    if (values > limit)
      return std::nullopt;
    most = std::max(most, values);
  }
  return most;
}

/// The different places of a block's elements, ascending.
static std::vector<uint16_t> findPlaces(const Elements &elements, int64_t begin,
                                        int64_t end) {
  llvm::BitVector seen(elements.values.size());
  for (int64_t i = begin; i < end; ++i)
    seen.set(elements.places[i]);
  std::vector<uint16_t> places;
  for (unsigned place : seen.set_bits())
    places.push_back(place);
  return places;
}

static std::optional<StoredForm> storeCodes(const Elements &elements,
                                            llvm::ArrayRef<int64_t> runs,
                                            int64_t only) {
  int64_t count = elements.getCount();
  llvm::SmallVector<int64_t> blocks(runs);
  for (int64_t run : runs)
    for (int64_t many : {2, 4, 8, 16})
      blocks.push_back(many * run);
  // Short parts of a large weight are not tried: that takes too long.
  for (int64_t block = count < (1 << 20) ? 64 : 1024; block < count; block *= 2)
    blocks.push_back(block);
  llvm::erase_if(blocks,
                 [&](int64_t block) { return block < 32 || block >= count; });
  blocks.push_back(count);
  if (only)
    blocks = {only};
  llvm::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());

  int64_t least = count * elements.size;
  StoredForm form;
  for (int64_t block : blocks) {
    std::optional<size_t> values = getMostValues(elements, block);
    if (!values)
      continue;
    decode_shape shape = {};
    shape.form = decode_codes;
    shape.elements = static_cast<int>(count);
    shape.block = static_cast<int>(block);
    // Codes behind the only table begin with a word.
    shape.values = static_cast<int>(
        only ? llvm::alignTo(*values * elements.size, 4) / elements.size
             : *values);
    shape.value_bits = getBits(*values);
    int64_t bytes =
        int64_t(decode_blocks(shape)) * decode_group(shape, elements.size) +
        decode_behind_codes(shape);
    // Longer blocks come later: they decode more at a time.
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
    std::vector<uint16_t> places = findPlaces(elements, begin, end);
    for (size_t i = 0; i < size_t(form.shape.values); ++i)
      addNumber(form.bytes, i < places.size() ? elements.values[places[i]] : 0,
                elements.size);
    std::vector<uint32_t> codes(elements.values.size());
    for (auto [code, place] : llvm::enumerate(places))
      codes[place] = static_cast<uint32_t>(code);
    BitWriter writer(form.bytes);
    for (int64_t i = begin; i < end; ++i)
      writer.add(codes[elements.places[i]], form.shape.value_bits);
    form.bytes.resize(start + decode_group(form.shape, elements.size));
  }
  form.bytes.insert(form.bytes.end(), decode_behind_codes(form.shape), 0);
  return form;
}

//===----------------------------------------------------------------------===//
// Huffman codes
//===----------------------------------------------------------------------===//

namespace {
/// Canonical codes of symbols, of at most `most` bits.
struct HuffmanCodes {
  std::vector<size_t> order;      ///< symbols with codes, by these
  std::vector<uint32_t> reversed; ///< the codes, by symbol, first bit lowest
  std::vector<int> lengths;       ///< by symbol
  int most = 1;

  HuffmanCodes(llvm::ArrayRef<int64_t> counts, int most)
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

  int64_t getBits(llvm::ArrayRef<int64_t> counts) const {
    int64_t bits = 0;
    for (size_t symbol : order)
      bits += counts[symbol] * lengths[symbol];
    return bits;
  }
  void addCounts(std::vector<uint8_t> &bytes) const {
    for (int length = 1; length <= most; ++length)
      addNumber(bytes, llvm::count(lengths, length), 2);
  }
  void write(BitWriter &writer, size_t symbol) const {
    writer.add(reversed[symbol], lengths[symbol]);
  }
};
} // namespace

/// Returns codes whose longest is so short that the decoder's table is small,
/// as long as that costs less than a hundredth of the bits.
static HuffmanCodes makeCodes(llvm::ArrayRef<int64_t> counts) {
  int64_t symbols =
      llvm::count_if(counts, [](int64_t count) { return count > 0; });
  HuffmanCodes best(counts, decode_most_bits);
  int64_t least = best.getBits(counts);
  for (int most = ::getBits(symbols); most < decode_most_bits; ++most) {
    HuffmanCodes codes(counts, most);
    if (codes.getBits(counts) * 100 <= least * 101)
      return codes;
  }
  return best;
}

/// The blocks of a form behind its tables: where each begins, then what
/// write(begin, end) adds for it.
static void addBlocks(StoredForm &form,
                      llvm::function_ref<void(int64_t, int64_t)> write) {
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 4));
  size_t places = form.bytes.size();
  form.bytes.resize(places + 4 * decode_blocks(form.shape));
  for (int64_t begin = 0; begin < form.shape.elements;
       begin += form.shape.block) {
    for (int byte = 0; byte < 4; ++byte)
      form.bytes[places++] = uint8_t(form.bytes.size() >> 8 * byte);
    write(begin,
          std::min<int64_t>(begin + form.shape.block, form.shape.elements));
  }
  form.bytes.insert(form.bytes.end(), decode_behind, 0);
}

static StoredForm storeHuffman(const Elements &elements, int64_t block) {
  std::vector<int64_t> counts = elements.countValues();
  HuffmanCodes codes = makeCodes(counts);
  StoredForm form;
  form.shape.form = decode_huffman;
  form.shape.elements = static_cast<int>(elements.getCount());
  form.shape.block = static_cast<int>(std::min(block, elements.getCount()));
  form.shape.values = static_cast<int>(codes.order.size());
  form.shape.value_bits = codes.most;
  for (size_t symbol : codes.order)
    addNumber(form.bytes, elements.values[symbol], elements.size);
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 2));
  codes.addCounts(form.bytes);
  addBlocks(form, [&](int64_t begin, int64_t end) {
    BitWriter writer(form.bytes);
    for (int64_t i = begin; i < end; ++i)
      codes.write(writer, elements.places[i]);
  });
  return form;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

namespace {
/// An entry: so many skipped elements, then one of a value.
struct Entry {
  uint32_t gap;
  size_t place;
};

/// The entries of a weight, by block.
using Entries = std::vector<std::vector<Entry>>;
} // namespace

/// The most frequent value, by its place.
static size_t findMostFrequent(const Elements &elements) {
  std::vector<int64_t> counts = elements.countValues();
  return std::max_element(counts.begin(), counts.end()) - counts.begin();
}

static Entries findEntries(const Elements &elements, size_t skipped,
                           int64_t length, int gapBits) {
  const uint32_t mostGap = (1u << gapBits) - 1;
  Entries entries;
  for (int64_t begin = 0; begin < elements.getCount(); begin += length) {
    std::vector<Entry> &block = entries.emplace_back();
    uint32_t gap = 0;
    for (int64_t i = begin; i < std::min(begin + length, elements.getCount());
         ++i) {
      size_t place = elements.places[i];
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
    // The end of a block is skipped without an entry.
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

static decode_shape getEntriesShape(const Elements &elements, int form,
                                    int64_t block, const Entries &entries) {
  decode_shape shape = {};
  shape.form = form;
  shape.elements = static_cast<int>(elements.getCount());
  shape.block = static_cast<int>(std::min(block, elements.getCount()));
  shape.entries = static_cast<int>(countEntries(entries));
  return shape;
}

static StoredForm storeEntries(const Elements &elements, int64_t length) {
  size_t skipped = findMostFrequent(elements);
  int valueBits = getBits(elements.values.size());
  Entries best;
  int64_t leastBits = std::numeric_limits<int64_t>::max();
  int gapBits = 1;
  for (int bits = 1; bits <= kMostGap; ++bits) {
    Entries entries = findEntries(elements, skipped, length, bits);
    int64_t all = countEntries(entries) * (bits + valueBits);
    if (all < leastBits) {
      leastBits = all;
      best = std::move(entries);
      gapBits = bits;
    }
  }
  // The value that is skipped has the last place.
  std::vector<uint32_t> values = elements.values;
  std::swap(values[skipped], values.back());
  std::vector<size_t> moved(values.size());
  std::iota(moved.begin(), moved.end(), 0);
  std::swap(moved[skipped], moved.back());

  StoredForm form;
  form.shape = getEntriesShape(elements, decode_entries, length, best);
  form.shape.values = static_cast<int>(values.size());
  form.shape.value_bits = valueBits;
  form.shape.gap_bits = gapBits;
  for (uint32_t value : values)
    addNumber(form.bytes, value, elements.size);
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

static StoredForm storeHuffmanEntries(const Elements &elements,
                                      int64_t length) {
  size_t skipped = findMostFrequent(elements);
  struct Choice {
    Entries entries;
    std::vector<int64_t> gaps, values;
    int64_t bits = std::numeric_limits<int64_t>::max();
  } best;
  for (int gapBits = 2; gapBits <= kMostGap; ++gapBits) {
    Choice choice{findEntries(elements, skipped, length, gapBits),
                  std::vector<int64_t>(size_t(1) << gapBits),
                  std::vector<int64_t>(elements.values.size())};
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
  HuffmanCodes gaps = makeCodes(best.gaps), values = makeCodes(best.values);
  StoredForm form;
  form.shape =
      getEntriesShape(elements, decode_huffman_entries, length, best.entries);
  form.shape.values = static_cast<int>(values.order.size()) + 1;
  form.shape.value_bits = values.most;
  form.shape.gaps = static_cast<int>(gaps.order.size());
  form.shape.gap_bits = gaps.most;
  for (size_t symbol : values.order)
    addNumber(form.bytes, elements.values[symbol], elements.size);
  addNumber(form.bytes, elements.values[skipped], elements.size);
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

//===----------------------------------------------------------------------===//
// The smallest form
//===----------------------------------------------------------------------===//

std::optional<StoredForm> StoredForm::get(StoredKind kind,
                                          llvm::ArrayRef<char> bytes, int size,
                                          llvm::ArrayRef<int64_t> runs,
                                          int64_t block) {
  // The places of blocks have 32 bits, sizes are ints.
  if (int64_t(bytes.size()) < 2 * size ||
      bytes.size() > (size_t(1) << 31) - kBlock)
    return std::nullopt;
  bool hasParts = kind == StoredKind::codebook;
  auto elements =
      Elements::get(bytes, size, hasParts ? kMostValues : kMostPlaces);
  if (!elements)
    return std::nullopt;
  std::optional<StoredForm> form;
  switch (kind) {
  case StoredKind::codebook:
    form = storeCodes(*elements, runs, block);
    break;
  case StoredKind::csr:
    form = storeEntries(*elements, block ? block : kBlock);
    break;
  case StoredKind::huffman:
    form = storeHuffman(*elements, block ? block : kBlock);
    if (StoredForm other =
            storeHuffmanEntries(*elements, block ? block : kBlock);
        other.bytes.size() < form->bytes.size())
      form = std::move(other);
    break;
  }
  if (form && form->bytes.size() >= bytes.size())
    return std::nullopt;
  return form;
}

bool nnc::compression::isWorthStoring(StoredKind kind,
                                      llvm::ArrayRef<char> bytes, int size) {
  if (int64_t(bytes.size()) < 64 * size)
    return false;
  bool hasParts = kind == StoredKind::codebook;
  auto elements =
      Elements::get(bytes, size, hasParts ? kMostValues : kMostPlaces);
  // Parts of 64 elements and 16 values take less than the elements of any size
  // but a byte.
  return elements && (elements->values.size() <= kMostPlaces ||
                      getMostValues(*elements, 64, 16));
}
