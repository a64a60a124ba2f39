//===- parts.h - Decodes weights part by part -----------------------------===//
//
// These decoders are for routines that decode a part of a weight into a tile of
// working memory, compute with it, and go on with the next part. decode/plan.h
// defines the position of each byte.
//
// A decoder of elements of type T is constructed from the shape S, the stored
// weight and scratch(s) bytes of scratch, in which it keeps tables of Huffman
// codes. decode(first, count, to) writes elements [first, first + count) to
// `to`.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_PARTS_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_PARTS_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/code_lanes.h"
#include "runtime/routines/stored_weights/decode/codes.h"
#include "runtime/routines/stored_weights/decode/entries.h"
#include "runtime/routines/stored_weights/decode/huffman.h"
#include "runtime/routines/stored_weights/decode/literals.h"

namespace nnc {

/// Decodes indices in one table, from a multiple of 8 on, in vectors of W
/// floats if the instruction set has table lookups for them.
template <class S, class T, int W> struct stored_codes {
  static constexpr bool in_lanes =
      is_same<T, float>::value && code_lanes<W>::exists;
  struct no_lanes {
    NNC_FN no_lanes(const T *, int, int) {}
  };
  const S &s;
  const unsigned char *w;
  conditional_t<in_lanes, code_lanes<W>, no_lanes> lanes;

  NNC_FN stored_codes(const S &shape, const unsigned char *weights,
                      unsigned char *)
      : s(shape), w(weights), lanes(table(w), s.values, s.value_bits) {}
  NNC_FN void decode(ptrdiff_t first, int count, T *to) const {
    const unsigned char *codes =
        w + s.values * ptrdiff_t(sizeof(T)) + first / 8 * s.value_bits;
    if constexpr (in_lanes) {
      // A group reads 16 bytes, behind which codes of 4 bits may end.
      const int least = s.value_bits == 4 ? 2 * code_group : code_group;
      NNC_KEEP_LOOP for (; count >= least;
                         count -= code_group, to += code_group,
                         codes += 2 * s.value_bits) lanes.look_up(codes, to);
    }
    if (s.value_bits == 4)
      decode_halves_of_bytes(table(w), codes, to, count);
    else
      decode_places_of(table(w), codes, s.value_bits, to, count);
  }

private:
  NNC_FN static const T *table(const unsigned char *w) {
    return static_cast<const T *>(static_cast<const void *>(w));
  }
};

/// Decodes blocks of Huffman codes, one at a time.
template <class S, class T, int W> struct stored_huffman {
  const S &s;
  const unsigned char *w;
  huffman_step *steps;

  NNC_FN stored_huffman(const S &shape, const unsigned char *weights,
                        unsigned char *scratch)
      : s(shape), w(weights),
        steps(static_cast<huffman_step *>(static_cast<void *>(scratch))) {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    fill_huffman_table(steps, w + at.value_counts, s.value_bits, true);
  }
  NNC_FN void decode(ptrdiff_t first, int count, T *to) const {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    const ptrdiff_t place = at.blocks + 4 * (first / s.block);
    decode_huffman_block(steps, s.value_bits,
                         static_cast<const T *>(static_cast<const void *>(w)),
                         w + read_four_bytes(w + place), to, count);
  }
};

/// Decodes blocks of entries, one at a time.
template <class S, class T, class Next> struct stored_entries {
  const S &s;
  const unsigned char *w;
  const Next next;

  NNC_FN stored_entries(const S &shape, const unsigned char *weights,
                        unsigned char *scratch)
      : s(shape), w(weights), next(shape, weights, scratch) {}
  NNC_FN void decode(ptrdiff_t first, int count, T *to) const {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    const ptrdiff_t place = at.blocks + 4 * (first / s.block);
    decode_entries_block(w + read_four_bytes(w + place), to, count, next);
  }
};

/// Decodes blocks of literal entries, one at a time.
template <class S, class T> struct stored_literals {
  const S &s;
  const unsigned char *w;

  NNC_FN stored_literals(const S &shape, const unsigned char *weights,
                         unsigned char *)
      : s(shape), w(weights) {}
  NNC_FN void decode(ptrdiff_t first, int, T *to) const {
    decode_literals_block(s, w, static_cast<int>(first / s.block), to);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_PARTS_H
