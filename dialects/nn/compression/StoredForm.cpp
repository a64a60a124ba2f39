//===- StoredForm.cpp - Weights in fewer bytes, without any loss ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/compression/StoredForm.h"

#include "dialects/nn/compression/Huffman.h"
#include "runtime/routines/decode/plan.h"

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
/// Elements of 1, 2 or 4 bytes by their bits.
class Elements {
public:
  Elements(llvm::ArrayRef<char> bytes, int size) : bytes(bytes), size(size) {}

  int64_t getCount() const { return int64_t(bytes.size()) / size; }
  int getSize() const { return size; }
  uint32_t operator[](int64_t i) const {
    uint32_t bits = 0;
    for (int byte = 0; byte < size; ++byte)
      bits |= uint32_t(uint8_t(bytes[i * size + byte])) << 8 * byte;
    return bits;
  }

private:
  llvm::ArrayRef<char> bytes;
  int size;
};

/// The different values of some elements, in ascending order of their bits.
struct Places {
  std::vector<uint32_t> values;

  /// Returns nothing if there are more than `most`.
  static std::optional<Places> find(const Elements &elements, int64_t begin,
                                    int64_t end, size_t most) {
    Places places;
    llvm::DenseMap<uint64_t, char> known;
    uint32_t last = 0;
    for (int64_t i = begin; i < end; ++i) {
      uint32_t bits = elements[i];
      if ((bits == last && i != begin) || !known.try_emplace(bits).second)
        continue;
      last = bits;
      if (places.values.size() == most)
        return std::nullopt;
      places.values.push_back(bits);
    }
    llvm::sort(places.values);
    return places;
  }
  size_t operator[](uint32_t bits) const {
    return llvm::lower_bound(values, bits) - values.begin();
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

static void addBehind(std::vector<uint8_t> &bytes) {
  bytes.insert(bytes.end(), decode_behind, 0);
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Returns the most values that a block has; nothing if there are too many.
static std::optional<size_t> getMostValues(const Elements &elements,
                                           int64_t block) {
  size_t most = 0;
  for (int64_t begin = 0; begin < elements.getCount(); begin += block) {
    int64_t end = std::min(begin + block, elements.getCount());
    auto places = Places::find(elements, begin, end, kMostPlaces);
    if (!places)
      return std::nullopt;
    most = std::max(most, places->values.size());
  }
  return most;
}

static int64_t getBlocks(const decode_shape &shape) {
  return llvm::divideCeil(shape.elements, shape.block);
}

static std::optional<StoredForm> storeCodes(const Elements &elements,
                                            llvm::ArrayRef<int64_t> runs) {
  int64_t count = elements.getCount();
  llvm::SmallVector<int64_t> blocks(runs);
  for (int64_t run : runs)
    for (int64_t many : {2, 4, 8, 16})
      blocks.push_back(many * run);
  for (int64_t block = 64; block < count; block *= 2)
    blocks.push_back(block);
  llvm::erase_if(blocks,
                 [&](int64_t block) { return block < 32 || block >= count; });
  blocks.push_back(count);
  llvm::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());

  int64_t least = count * elements.getSize();
  StoredForm form;
  for (int64_t block : blocks) {
    std::optional<size_t> values = getMostValues(elements, block);
    if (!values)
      continue;
    decode_shape shape = {};
    shape.form = decode_codes;
    shape.elements = static_cast<int>(count);
    shape.block = static_cast<int>(block);
    shape.values = static_cast<int>(*values);
    shape.value_bits = getBits(*values);
    int64_t bytes = getBlocks(shape) * decode_group(shape, elements.getSize()) +
                    decode_behind;
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
    Places places = *Places::find(elements, begin, end, kMostPlaces);
    std::vector<uint32_t> table = places.values;
    table.resize(form.shape.values);
    for (uint32_t value : table)
      addNumber(form.bytes, value, elements.getSize());
    BitWriter writer(form.bytes);
    for (int64_t i = begin; i < end; ++i)
      writer.add(static_cast<uint32_t>(places[elements[i]]),
                 form.shape.value_bits);
    form.bytes.resize(start + decode_group(form.shape, elements.getSize()));
  }
  addBehind(form.bytes);
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
  form.bytes.resize(places + 4 * getBlocks(form.shape));
  for (int64_t begin = 0; begin < form.shape.elements;
       begin += form.shape.block) {
    for (int byte = 0; byte < 4; ++byte)
      form.bytes[places++] = uint8_t(form.bytes.size() >> 8 * byte);
    write(begin,
          std::min<int64_t>(begin + form.shape.block, form.shape.elements));
  }
  addBehind(form.bytes);
}

static StoredForm storeHuffman(const Elements &elements, const Places &places) {
  std::vector<int64_t> counts(places.values.size());
  for (int64_t i = 0; i < elements.getCount(); ++i)
    ++counts[places[elements[i]]];
  HuffmanCodes codes = makeCodes(counts);
  StoredForm form;
  form.shape.form = decode_huffman;
  form.shape.elements = static_cast<int>(elements.getCount());
  form.shape.block = static_cast<int>(std::min(kBlock, elements.getCount()));
  form.shape.values = static_cast<int>(codes.order.size());
  form.shape.value_bits = codes.most;
  for (size_t symbol : codes.order)
    addNumber(form.bytes, places.values[symbol], elements.getSize());
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 2));
  codes.addCounts(form.bytes);
  addBlocks(form, [&](int64_t begin, int64_t end) {
    BitWriter writer(form.bytes);
    for (int64_t i = begin; i < end; ++i)
      codes.write(writer, places[elements[i]]);
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
static size_t findMostFrequent(const Elements &elements, const Places &places) {
  std::vector<int64_t> counts(places.values.size());
  for (int64_t i = 0; i < elements.getCount(); ++i)
    ++counts[places[elements[i]]];
  return std::max_element(counts.begin(), counts.end()) - counts.begin();
}

static Entries findEntries(const Elements &elements, const Places &places,
                           size_t skipped, int gapBits) {
  const uint32_t mostGap = (1u << gapBits) - 1;
  Entries entries;
  for (int64_t begin = 0; begin < elements.getCount(); begin += kBlock) {
    std::vector<Entry> &block = entries.emplace_back();
    uint32_t gap = 0;
    for (int64_t i = begin; i < std::min(begin + kBlock, elements.getCount());
         ++i) {
      size_t place = places[elements[i]];
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
                                    const Entries &entries) {
  decode_shape shape = {};
  shape.form = form;
  shape.elements = static_cast<int>(elements.getCount());
  shape.block = static_cast<int>(std::min(kBlock, elements.getCount()));
  shape.entries = static_cast<int>(countEntries(entries));
  return shape;
}

static StoredForm storeEntries(const Elements &elements, const Places &places) {
  size_t skipped = findMostFrequent(elements, places);
  int valueBits = getBits(places.values.size());
  Entries best;
  int64_t leastBits = std::numeric_limits<int64_t>::max();
  int gapBits = 1;
  for (int bits = 1; bits <= kMostGap; ++bits) {
    Entries entries = findEntries(elements, places, skipped, bits);
    int64_t all = countEntries(entries) * (bits + valueBits);
    if (all < leastBits) {
      leastBits = all;
      best = std::move(entries);
      gapBits = bits;
    }
  }
  // The value that is skipped has the last place.
  std::vector<uint32_t> values = places.values;
  std::swap(values[skipped], values.back());
  std::vector<size_t> moved(values.size());
  std::iota(moved.begin(), moved.end(), 0);
  std::swap(moved[skipped], moved.back());

  StoredForm form;
  form.shape = getEntriesShape(elements, decode_entries, best);
  form.shape.values = static_cast<int>(values.size());
  form.shape.value_bits = valueBits;
  form.shape.gap_bits = gapBits;
  for (uint32_t value : values)
    addNumber(form.bytes, value, elements.getSize());
  addBlocks(form, [&](int64_t begin, int64_t) {
    const std::vector<Entry> &block = best[begin / kBlock];
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
                                      const Places &places) {
  size_t skipped = findMostFrequent(elements, places);
  struct Choice {
    Entries entries;
    std::vector<int64_t> gaps, values;
    int64_t bits = std::numeric_limits<int64_t>::max();
  } best;
  for (int gapBits = 2; gapBits <= kMostGap; ++gapBits) {
    Choice choice{findEntries(elements, places, skipped, gapBits),
                  std::vector<int64_t>(size_t(1) << gapBits),
                  std::vector<int64_t>(places.values.size())};
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
  form.shape = getEntriesShape(elements, decode_huffman_entries, best.entries);
  form.shape.values = static_cast<int>(values.order.size()) + 1;
  form.shape.value_bits = values.most;
  form.shape.gaps = static_cast<int>(gaps.order.size());
  form.shape.gap_bits = gaps.most;
  for (size_t symbol : values.order)
    addNumber(form.bytes, places.values[symbol], elements.getSize());
  addNumber(form.bytes, places.values[skipped], elements.getSize());
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 2));
  values.addCounts(form.bytes);
  gaps.addCounts(form.bytes);
  for (size_t gap : gaps.order)
    form.bytes.push_back(uint8_t(gap));
  addBlocks(form, [&](int64_t begin, int64_t) {
    const std::vector<Entry> &block = best.entries[begin / kBlock];
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
                                          llvm::ArrayRef<int64_t> runs) {
  Elements elements(bytes, size);
  // The places of blocks have 32 bits, sizes are ints.
  if (elements.getCount() < 2 || bytes.size() > (size_t(1) << 31) - kBlock)
    return std::nullopt;
  std::optional<StoredForm> form;
  if (kind == StoredKind::codebook) {
    form = storeCodes(elements, runs);
  } else if (auto places =
                 Places::find(elements, 0, elements.getCount(), kMostPlaces)) {
    form = kind == StoredKind::csr ? storeEntries(elements, *places)
                                   : storeHuffman(elements, *places);
    if (kind == StoredKind::huffman) {
      StoredForm other = storeHuffmanEntries(elements, *places);
      if (other.bytes.size() < form->bytes.size())
        form = std::move(other);
    }
  }
  if (form && form->bytes.size() >= bytes.size())
    return std::nullopt;
  return form;
}

bool nnc::compression::isWorthStoring(StoredKind kind,
                                      llvm::ArrayRef<char> bytes, int size) {
  Elements elements(bytes, size);
  if (elements.getCount() < 64)
    return false;
  return kind == StoredKind::codebook
             ? storeCodes(elements, {}).has_value()
             : Places::find(elements, 0, elements.getCount(), kMostPlaces)
                   .has_value();
}
