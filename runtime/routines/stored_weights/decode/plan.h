//===- plan.h - The bytes of compressed weights ---------------------------===//
//
// Codes: a group for each block, which is a table of values and then the codes
// of the block, from the lowest bit of a byte on.
//
// Literal entries: the value that they skip, up to a multiple of four bytes;
// for each block the number of entries in front of it, and that of all entries,
// four bytes each; the values of all entries; and then their gaps, one stream
// of bits for all blocks. No entry waits for the place of a value.
//
// Patterns: the table of values, the values of all entries, and their places in
// the blocks. Values and places are one stream of bits each, which begins with
// a multiple of four bytes.
//
// All other forms have one table of values, in front; then, for Huffman codes,
// two bytes for each length from 1 to the longest, that say how many codes have
// it (first of the values, then of the gaps), and the gaps that have codes, a
// byte each. Values and gaps stand in the order of their canonical codes;
// entries have one more value at the end of the table, which they skip. Then
// follow the place of each block in bytes from the start, four bytes each, and
// the blocks. A block of entries begins with their number, two bytes. Bits
// begin at the lowest of a byte; numbers have their lowest byte first.
//
// Behind all blocks stand `decode_behind` bytes of zeros, which readers of
// whole words may read; none behind codes of 4 bits, which are read in bytes.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_PLAN_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_PLAN_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/shape.h"

#include <stddef.h>

namespace nnc {

/// Bytes of zeros behind a stored weight, for a word that is read ahead and the
/// next one.
constexpr int decode_behind = 16;
/// The longest Huffman code, in bits.
constexpr int decode_most_bits = 11;
/// Codes that one unit of work decodes: a multiple of 8, so that a unit begins
/// with a byte.
constexpr int decode_unit = 4096;

/// The largest number of entries whose values are stored separately from gaps
/// or indices. 32-bit cores have to be able to count the bits in front of them.
constexpr int decode_most_literals = 1 << 26;

/// Number of blocks of a weight.
template <class S> NNC_FN constexpr int decode_blocks(const S &s) {
  return (s.elements + s.block - 1) / s.block;
}

/// The offsets of the parts of literal entries, in bytes from the start.
/// Elements have `size` bytes, which divides four.
struct decode_literal_places {
  ptrdiff_t counts, values, gaps;

  template <class S>
  NNC_FN constexpr decode_literal_places(const S &s, int size) {
    counts = 4;
    values = counts + ptrdiff_t(4) * (decode_blocks(s) + 1);
    gaps = values + ptrdiff_t(s.entries) * size;
  }
};

/// Returns true if entries hold the values themselves instead of indices in a
/// table.
template <class S> NNC_FN constexpr bool decode_keeps_values(const S &s) {
  return s.form == decode_literals ||
         (s.form == decode_pattern && s.values == 1);
}

/// The largest number of bits of an index in a block of a pattern.
constexpr int decode_most_place_bits = 4;

/// The offsets of the parts of a pattern, in bytes from the start.
struct decode_pattern_places {
  ptrdiff_t values, places;

  template <class S>
  NNC_FN constexpr decode_pattern_places(const S &s, int size) {
    values = (ptrdiff_t(s.values) * size + 3) / 4 * 4;
    places = values + (ptrdiff_t(s.entries) * s.value_bits + 31) / 32 * 4;
  }
};

/// The offsets of the parts of a stored weight, in bytes from its start, with
/// elements of `size` bytes. For forms that store the offsets of blocks.
struct decode_places {
  ptrdiff_t value_counts, gap_counts, gaps, blocks, streams;

  template <class S> NNC_FN constexpr decode_places(const S &s, int size) {
    const bool huffman =
        s.form == decode_huffman || s.form == decode_huffman_entries;
    const bool entries = s.form == decode_huffman_entries;
    value_counts = (ptrdiff_t(s.values) * size + 1) / 2 * 2;
    gap_counts = value_counts + (huffman ? 2 * s.value_bits : 0);
    gaps = gap_counts + (entries ? 2 * s.gap_bits : 0);
    blocks = (gaps + (entries ? s.gaps : 0) + 3) / 4 * 4;
    streams = blocks + ptrdiff_t(4) * decode_blocks(s);
  }
};

/// Bytes of a group of codes, with elements of `size` bytes: a multiple of
/// `size`, so that each table is aligned.
template <class S>
NNC_FN constexpr ptrdiff_t decode_group(const S &s, int size) {
  const ptrdiff_t codes = (ptrdiff_t(s.block) * s.value_bits + 7) / 8;
  return (ptrdiff_t(s.values) * size + codes + size - 1) / size * size;
}

/// Bytes of zeros behind codes.
template <class S> NNC_FN constexpr int decode_behind_codes(const S &s) {
  return s.value_bits == 4 ? 0 : decode_behind;
}

/// Units of work for codes in each block.
template <class S> NNC_FN constexpr int decode_units_of_block(const S &s) {
  return (s.block + decode_unit - 1) / decode_unit;
}

/// Bytes of scratch of each thread that decodes Huffman codes: a table with 4
/// bytes for each number that has as many bits as the longest code.
template <class S> NNC_FN constexpr ptrdiff_t decode_scratch(const S &s) {
  const bool entries = s.form == decode_huffman_entries;
  return ((ptrdiff_t(4) << s.value_bits) +
          (entries ? ptrdiff_t(4) << s.gap_bits : 0) + 63) /
         64 * 64;
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_PLAN_H
