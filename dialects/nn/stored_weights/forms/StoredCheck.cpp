//===- StoredCheck.cpp - Finds damage in stored weights -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredCheck.h"

#include "runtime/routines/stored_weights/decode/plan.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace nnc;
using namespace nnc::stored;
using llvm::Twine;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;

/// The largest number of bits of a code that is not a Huffman code: an index in
/// the table of all values or of a block, which fits in a byte.
static constexpr int kMostCodeBits = 8;
/// The largest number of values or gaps that have codes, so that an index fits
/// in a byte.
static constexpr int kMostSymbols = 256;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string checkField(llvm::StringRef name, int64_t value,
                              int64_t least, int64_t most) {
  if (value >= least && value <= most)
    return "";
  return (Twine("has ") + Twine(value) + " as '" + name +
          "', which is not between " + Twine(least) + " and " + Twine(most))
      .str();
}

static std::string checkSize(int64_t bytes, int64_t least) {
  if (bytes >= least)
    return "";
  return (Twine("needs ") + Twine(least) + " bytes at least, and there are " +
          Twine(bytes))
      .str();
}

std::string nnc::stored::findWrongShape(const decode_shape &s, int64_t bytes,
                                        int size) {
  bool isHuffman = s.form == decode_huffman || s.form == decode_huffman_entries;
  bool hasEntries = decode_has_entries(s.form);
  bool isLiteral = decode_keeps_values(s);
  int mostBits = isHuffman ? decode_most_bits : kMostCodeBits;
  // The index of the end of the last full block plus one block must fit in an
  // int.
  constexpr int most = std::numeric_limits<int>::max();
  std::string problem = checkField("form", s.form, 0, decode_last_form);
  auto check = [&](llvm::StringRef name, int64_t value, int64_t least,
                   int64_t largest) {
    if (problem.empty())
      problem = checkField(name, value, least, largest);
  };
  check("elements", s.elements, 1, most);
  check("block", s.block, 1,
        std::min<int64_t>(s.elements, most - int64_t(s.elements) + 1));
  check("value_bits", s.value_bits, isLiteral ? 8 * size : 1,
        isLiteral ? 8 * size : mostBits);
  if (!problem.empty())
    return problem;
  // The value that entries skip is the last one of the table, behind the values
  // that have codes.
  check("values", s.values, 1,
        isLiteral   ? 1
        : isHuffman ? kMostSymbols + hasEntries
                    : 1 << s.value_bits);
  if (hasEntries)
    check("gap_bits", s.gap_bits, 1, mostBits);
  if (s.form == decode_huffman_entries)
    check("gaps", s.gaps, 0, kMostSymbols);
  if (s.form == decode_literals)
    check("entries", s.entries, 0, decode_most_literals);
  if (s.form == decode_pattern) {
    check("gap_bits", s.gap_bits, 1, decode_most_place_bits);
    if (problem.empty())
      check("block", s.block, 1 << s.gap_bits, 1 << s.gap_bits);
    if (problem.empty() && s.elements % s.block != 0)
      return (Twine("has ") + Twine(s.elements) +
              " elements, which are not a multiple of its block of " +
              Twine(s.block))
          .str();
    check("gaps", s.gaps, 1, s.block);
    const int64_t entries = int64_t(s.elements) / s.block * s.gaps;
    check("entries", s.entries, entries, entries);
    check("entries", s.entries, 1, decode_most_literals);
  }
  if (!problem.empty())
    return problem;
  if (s.form == decode_codes)
    return checkSize(bytes, int64_t(decode_blocks(s)) * decode_group(s, size) +
                                decode_behind_codes(s));
  const int64_t behind =
      int64_t(llvm::divideCeil(uint64_t(s.entries) * s.gap_bits, 8)) +
      decode_behind;
  if (s.form == decode_pattern)
    return checkSize(bytes, decode_pattern_places(s, size).places + behind);
  if (s.form == decode_literals)
    return checkSize(bytes, decode_literal_places(s, size).gaps + behind);
  return checkSize(bytes, decode_places(s, size).streams + decode_behind);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

namespace {
/// A stream of bits with a bounds check.
class Stream {
public:
  Stream(llvm::ArrayRef<uint8_t> bytes) : bytes(bytes) {}

  /// Returns the next bits, at most 16; zeros behind the end.
  uint32_t peek(int bits) const {
    uint32_t word = 0;
    for (size_t i = 0, at = used / 8; i < 3 && at + i < bytes.size(); ++i)
      word |= uint32_t(bytes[at + i]) << 8 * i;
    return word >> used % 8 & ((1u << bits) - 1);
  }
  /// Skips bits. Returns false if fewer bits are left.
  bool skip(int bits) { return (used += bits) <= 8 * bytes.size(); }

private:
  llvm::ArrayRef<uint8_t> bytes;
  size_t used = 0; ///< bits that have been read
};

/// A reader of canonical Huffman codes that checks their table.
struct HuffmanReader {
  std::vector<int64_t> counts; ///< number of codes of each length from 1 on
  std::string problem;
  bool hasCodes;

  /// `table` has the number of codes of each length from 1 to `bits`, for
  /// `symbols` symbols in all. A single symbol needs no code.
  HuffmanReader(const uint8_t *table, int bits, int symbols,
                llvm::StringRef what) {
    int64_t codes = 0, room = int64_t(1) << bits;
    for (int length = 1; length <= bits; ++length) {
      counts.push_back(read16le(table + 2 * (length - 1)));
      codes += counts.back();
      room -= counts.back() << (bits - length);
    }
    hasCodes = codes > 0;
    if (room < 0)
      problem =
          ("has more Huffman codes of " + what + " than there can be").str();
    else if (codes != symbols && (hasCodes || symbols > 1))
      problem = ("has Huffman codes of " + Twine(codes) + " " + what +
                 ", and by its shape there are " + Twine(symbols))
                    .str();
  }

  /// Reads a code from the stream. Returns false if the bits are not a code or
  /// if the stream ends within it.
  bool skip(Stream &stream, int &symbol) const {
    symbol = 0;
    if (!hasCodes)
      return true;
    const uint32_t word = stream.peek(static_cast<int>(counts.size()));
    // Codes of a length count up from the first, highest bit first.
    int64_t code = 0, first = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      code = 2 * code + (word >> i & 1);
      if (code - first < counts[i]) {
        symbol += static_cast<int>(code - first);
        return stream.skip(static_cast<int>(i) + 1);
      }
      symbol += static_cast<int>(counts[i]);
      first = 2 * (first + counts[i]);
    }
    return false;
  }
};

/// A checker of the bytes of a stored weight in any form, whose shape has
/// passed findWrongShape().
struct Checker {
  const decode_shape &s;
  llvm::ArrayRef<uint8_t> bytes;
  int size;

  int getCount(int block) const {
    return std::min(s.block, s.elements - block * s.block);
  }
  static std::string inBlock(int block, const Twine &problem) {
    return ("has a block " + Twine(block) + " of which " + problem).str();
  }

  std::string isBeyond(int64_t entry, int block) const {
    return ("the entry " + Twine(entry) + " is beyond its " +
            Twine(getCount(block)) + " elements")
        .str();
  }

  std::string checkCodes() const;
  std::string checkHuffman() const;
  std::string checkEntries() const;
  std::string checkHuffmanEntries() const;
  std::string checkLiterals() const;
  std::string checkPattern() const;

private:
  /// Calls check(block, stream) for each block after checking that the block
  /// lies within the bytes. check() returns a description of what is wrong, or
  /// an empty string.
  template <class F> std::string checkBlocks(F check) const;
  /// Checks the entries of all blocks. next(stream, gap) reads one entry and
  /// returns a description of what is wrong, or an empty string.
  template <class F> std::string checkEachEntry(F next) const;
};
} // namespace

std::string Checker::checkCodes() const {
  if (s.values == 1 << s.value_bits)
    return "";
  for (int block = 0; block < decode_blocks(s); ++block) {
    Stream stream(bytes.drop_front(int64_t(block) * decode_group(s, size) +
                                   int64_t(s.values) * size));
    for (int i = 0, count = getCount(block); i < count; ++i) {
      if (stream.peek(s.value_bits) >= uint32_t(s.values))
        return inBlock(block, "the code " + Twine(i) +
                                  " is beyond its table of " + Twine(s.values) +
                                  " values");
      stream.skip(s.value_bits);
    }
  }
  return "";
}

template <class F> std::string Checker::checkBlocks(F check) const {
  const decode_places at(s, size);
  const int64_t end = int64_t(bytes.size()) - decode_behind;
  for (int block = 0; block < decode_blocks(s); ++block) {
    int64_t begin = read32le(bytes.data() + at.blocks + 4 * int64_t(block));
    if (begin < at.streams || begin > end)
      return inBlock(block, "the place is beyond the bytes");
    if (std::string problem = check(block, bytes.slice(begin, end - begin));
        !problem.empty())
      return inBlock(block, problem);
  }
  return "";
}

std::string Checker::checkHuffman() const {
  HuffmanReader table(bytes.data() + decode_places(s, size).value_counts,
                      s.value_bits, s.values, "values");
  if (!table.problem.empty())
    return table.problem;
  return checkBlocks([&](int block, Stream stream) -> std::string {
    int symbol;
    for (int i = 0, count = getCount(block); i < count; ++i)
      if (!table.skip(stream, symbol))
        return ("the code " + Twine(i) + " is none, or cut off").str();
    return "";
  });
}

template <class F> std::string Checker::checkEachEntry(F next) const {
  return checkBlocks(
      [&](int block, llvm::ArrayRef<uint8_t> own) -> std::string {
        if (own.size() < 2)
          return "the entries are cut off";
        const int entries = read16le(own.data());
        Stream stream(own.drop_front(2));
        int64_t place = 0;
        for (int i = 0; i < entries; ++i) {
          int gap = 0;
          if (std::string problem = next(stream, gap); !problem.empty())
            return ("the entry " + Twine(i) + " " + problem).str();
          place += gap + 1;
          if (place > getCount(block))
            return isBeyond(i, block);
        }
        return "";
      });
}

std::string Checker::checkEntries() const {
  return checkEachEntry([&](Stream &stream, int &gap) -> std::string {
    uint32_t entry = stream.peek(s.gap_bits + s.value_bits);
    if (!stream.skip(s.gap_bits + s.value_bits))
      return "is cut off";
    gap = int(entry & ((1u << s.gap_bits) - 1));
    if (entry >> s.gap_bits >= uint32_t(s.values))
      return ("has a value beyond the table of " + Twine(s.values)).str();
    return "";
  });
}

std::string Checker::checkHuffmanEntries() const {
  const decode_places at(s, size);
  // The value that entries skip has no code unless entries of that value fill
  // long gaps.
  HuffmanReader values(bytes.data() + at.value_counts, s.value_bits,
                       s.values - 1, "values");
  HuffmanReader gaps(bytes.data() + at.gap_counts, s.gap_bits, s.gaps, "gaps");
  for (const HuffmanReader *table : {&values, &gaps})
    if (!table->problem.empty())
      return table->problem;
  return checkEachEntry([&](Stream &stream, int &gap) -> std::string {
    int number, value;
    if (s.gaps == 0 || s.values == 1)
      return "has a gap or a value of which there are none";
    if (!gaps.skip(stream, number) || !values.skip(stream, value))
      return "has a code that is none, or is cut off";
    gap = bytes[at.gaps + number];
    return "";
  });
}

std::string Checker::checkLiterals() const {
  const decode_literal_places at(s, size);
  Stream gaps(bytes.drop_front(at.gaps));
  auto readFirst = [&](int block) {
    return int64_t(read32le(bytes.data() + at.counts + 4 * int64_t(block)));
  };
  // The bits of each block follow those of the block before it.
  int64_t entry = 0;
  for (int block = 0; block < decode_blocks(s); ++block) {
    const int64_t end = readFirst(block + 1);
    if (readFirst(block) != entry || end < entry || end > s.entries)
      return inBlock(block, "the entries are not among the " +
                                Twine(s.entries) + " that there are");
    for (int64_t place = 0; entry < end; ++entry) {
      place += gaps.peek(s.gap_bits) + 1;
      gaps.skip(s.gap_bits);
      if (place > getCount(block))
        return inBlock(block, isBeyond(entry - readFirst(block), block));
    }
  }
  return "";
}

std::string Checker::checkPattern() const {
  if (decode_keeps_values(s) || s.values == 1 << s.value_bits)
    return "";
  Stream codes(bytes.drop_front(decode_pattern_places(s, size).values));
  for (int i = 0; i < s.entries; ++i) {
    if (codes.peek(s.value_bits) >= uint32_t(s.values))
      return ("has an entry " + Twine(i) + " whose value is beyond the table " +
              "of " + Twine(s.values))
          .str();
    codes.skip(s.value_bits);
  }
  return "";
}

std::string nnc::stored::findDamage(const decode_shape &shape,
                                    llvm::ArrayRef<uint8_t> bytes, int size) {
  Checker checker{shape, bytes, size};
  switch (shape.form) {
  case decode_codes:
    return checker.checkCodes();
  case decode_huffman:
    return checker.checkHuffman();
  case decode_entries:
    return checker.checkEntries();
  case decode_literals:
    return checker.checkLiterals();
  case decode_pattern:
    return checker.checkPattern();
  default:
    return checker.checkHuffmanEntries();
  }
}
