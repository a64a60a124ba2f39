//===- plan.h - How products with stored weights are divided --------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PLAN_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PLAN_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/plan.h"
#include "runtime/routines/stored_weights/stored_matmul/shape.h"

namespace nnc {

/// Rows of weights in a unit of work, if rows are long.
constexpr int stored_unit = 4;
/// Rows of x that share the decoded weights.
constexpr int stored_strip = 16;

/// Returns true if blocks of the stored form are whole rows, or parts of equal
/// length of a row.
template <class S> NNC_FN constexpr bool stored_keeps_rows(const S &s) {
  return s.order == stored_rows && s.block > 0 && s.block <= stored_tile &&
         (s.k % s.block == 0 || s.block % s.k == 0);
}
/// Rows of a block; 1 if a block is a part of a row.
template <class S> NNC_FN constexpr int stored_block_rows(const S &s) {
  return s.block > s.k ? s.block / s.k : 1;
}

/// Returns true if the weights have codes of `value_bits` bits with one table
/// for all, and each row begins at a byte.
template <class S> NNC_FN constexpr bool stored_has_codes(const S &s) {
  return s.form == decode_codes && s.block == s.elements && s.k % 8 == 0;
}

/// Returns true if stored_matmul/entries.h supports the product.
template <class S> NNC_FN constexpr bool stored_entries_apply(const S &s) {
  return decode_has_entries(s.form) && stored_keeps_rows(s);
}

/// Returns true if stored_matmul/tile.h supports the product.
template <class S> NNC_FN constexpr bool stored_tile_applies(const S &s) {
  return s.form == decode_huffman
             ? stored_keeps_rows(s)
             : s.order == stored_rows && stored_has_codes(s);
}

/// Returns true if stored_matmul/pairs.h supports the product. It looks up two
/// codes at a time and reads whole words of codes.
template <class S> NNC_FN constexpr bool stored_pairs_apply(const S &s) {
  return s.order == stored_quads && s.form == decode_codes &&
         s.block == s.elements && s.value_bits == 4 && s.values % 4 == 0 &&
         s.k % 4 == 0;
}

/// Returns true if stored_matmul/pattern.h supports the product.
template <class S> NNC_FN constexpr bool stored_pattern_applies(const S &s) {
  return s.form == decode_pattern && s.order == stored_rows &&
         s.k % s.block == 0;
}

/// Entries that stored_matmul/pattern.h multiplies at a time with vectors.
constexpr int pattern_step = 16;

/// Returns true if stored_matmul/pattern.h uses vectors: entries hold floats, a
/// half or a quarter of all weights have entries, and the indices of each row
/// begin at a byte.
template <class S> NNC_FN constexpr bool stored_pattern_in_lanes(const S &s) {
  return stored_pattern_applies(s) && decode_keeps_values(s) &&
         pattern_step % s.gaps == 0 &&
         (s.block == 2 * s.gaps || s.block == 4 * s.gaps) &&
         ptrdiff_t(s.k) / s.block * s.gaps * s.gap_bits % 8 == 0;
}

/// Bytes of the tables of Huffman codes of entries: four for each gap's code,
/// eight for each value's.
template <class S>
NNC_FN constexpr ptrdiff_t stored_huffman_scratch(const S &s) {
  return s.form == decode_huffman_entries
             ? whole_lines((ptrdiff_t(4) << s.gap_bits) +
                           (ptrdiff_t(8) << s.value_bits))
             : 0;
}

/// Bytes of scratch of each thread of entries.h with vectors of W rows of x:
/// the tables of Huffman codes and, unless W is 1, the transposed rows.
template <class S>
NNC_FN constexpr ptrdiff_t stored_entries_scratch(const S &s, int W) {
  return stored_huffman_scratch(s) +
         (W > 1 ? whole_lines(ptrdiff_t(4) * W * s.k) : 0);
}

/// Rows of w that tile.h decodes at a time; 1 if it decodes a part of a row.
template <class S> NNC_FN constexpr int stored_tile_rows(const S &s) {
  return s.form == decode_codes ? smaller(stored_rows_together(s.k), s.n)
                                : stored_block_rows(s);
}
/// Weights of a row that tile.h decodes at a time: a multiple of 8 codes, or a
/// block.
template <class S> NNC_FN constexpr int stored_tile_length(const S &s) {
  return s.form == decode_codes ? smaller(s.k, stored_tile) : s.block;
}
/// Bytes of the tile of tile.h for weights of `size` bytes.
template <class S>
NNC_FN constexpr ptrdiff_t stored_tile_bytes(const S &s, int size) {
  return whole_lines(ptrdiff_t(size) * stored_tile_rows(s) *
                     smaller(stored_tile, s.k));
}
/// Bytes of scratch of each thread of tile.h: the tile and the table of Huffman
/// codes.
template <class S>
NNC_FN constexpr ptrdiff_t stored_tile_scratch(const S &s, int size) {
  return stored_tile_bytes(s, size) +
         (s.form == decode_huffman ? decode_scratch(s) : 0);
}

/// Bytes of scratch of each thread of pairs.h: the pairs of values of all 256
/// bytes.
constexpr int stored_pairs_scratch = 4 * 256;

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_MATMUL_PLAN_H
