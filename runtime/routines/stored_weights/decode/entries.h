//===- entries.h - Weights that are mostly zero ---------------------------===//
//
// There is an entry for each element that differs from the last value of the
// table, which is zero in pruned weights. An entry holds the number of skipped
// elements and the value ("relative indexed CSR", decode/plan.h). If more
// elements are skipped than a gap can express, there are additional entries
// with the last value. The result is bitwise equal to the values that were
// stored. A unit is a block.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_ENTRIES_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_ENTRIES_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/huffman_table.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Writes a block of `count` elements. next(reader, gap) reads an entry of at
/// most `most_bits` bits and returns its value.
template <class T, class Next>
NNC_FN NNC_NOINLINE void decode_entries_block(const unsigned char *block, T *y,
                                              int count, const Next &next) {
  const T skipped = next.skipped();
  for (int i = 0; i < count; ++i)
    y[i] = skipped;
  constexpr int in_word = bit_reader::most / Next::most_bits;
  static_assert(in_word > 0, "an entry fits into a word");
  bit_reader reader(block + 2);
  int left = read_two_bytes(block);
  NNC_KEEP_LOOP while (left > 0) {
    reader.refill();
    const int now = smaller(left, in_word);
    for (int i = 0; i < now; ++i) {
      int gap;
      const T value = next(reader, gap);
      y += gap;
      *y++ = value;
    }
    left -= now;
  }
}

/// Reads entries of fixed length, for decode_entries_block.
template <class T> struct next_plain_entry {
  static constexpr int most_bits = 16;
  const T *values, *last;
  int gap_bits, bits;

  template <class S>
  NNC_FN next_plain_entry(const S &s, const unsigned char *x, unsigned char *)
      : values(static_cast<const T *>(static_cast<const void *>(x))),
        last(values + s.values - 1), gap_bits(s.gap_bits),
        bits(s.gap_bits + s.value_bits) {}
  NNC_FN T skipped() const { return *last; }
  NNC_FN T operator()(bit_reader &reader, int &gap) const {
    const size_t entry = reader.peek((size_t(1) << bits) - 1);
    reader.skip(bits);
    gap = static_cast<int>(entry & ((size_t(1) << gap_bits) - 1));
    return values[entry >> gap_bits];
  }
};

/// Reads entries with Huffman codes, for decode_entries_block; builds their
/// tables in decode_scratch(s) bytes.
template <class T> struct next_huffman_entry {
  static constexpr int most_bits = 2 * decode_most_bits;
  const T *values, *last;
  const huffman_step *value_steps, *gap_steps;
  size_t value_mask, gap_mask;
  const unsigned char *gaps;

  template <class S>
  NNC_FN next_huffman_entry(const S &s, const unsigned char *x,
                            unsigned char *scratch)
      : values(static_cast<const T *>(static_cast<const void *>(x))),
        last(values + s.values - 1),
        value_mask((size_t(1) << s.value_bits) - 1),
        gap_mask((size_t(1) << s.gap_bits) - 1) {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    auto *steps = static_cast<huffman_step *>(static_cast<void *>(scratch));
    fill_huffman_table(steps, x + at.value_counts, s.value_bits, false);
    value_steps = steps;
    steps += value_mask + 1;
    fill_huffman_table(steps, x + at.gap_counts, s.gap_bits, false);
    gap_steps = steps;
    gaps = x + at.gaps;
  }
  NNC_FN T skipped() const { return *last; }
  NNC_FN T operator()(bit_reader &reader, int &gap) const {
    const huffman_step skip = gap_steps[reader.peek(gap_mask)];
    reader.skip(skip.bits);
    const huffman_step step = value_steps[reader.peek(value_mask)];
    reader.skip(step.bits);
    gap = gaps[skip.first];
    return values[step.first];
  }
};

/// Writes blocks [begin, end).
template <class Next, class S, class T>
NNC_FN void decode_entries_blocks(const Next &next, const S &s,
                                  const unsigned char *x, T *y, int begin,
                                  int end) {
  decode_each_block(
      s, x, decode_places(s, static_cast<int>(sizeof(T))), begin, end,
      [&](const unsigned char *stream, ptrdiff_t first, int count) {
        decode_entries_block(stream, y + first, count, next);
      });
}

template <class S, class Epi> struct decode_entries_portable {
  NNC_FN static constexpr int units(const S &s) { return decode_blocks(s); }

  template <class T>
  NNC_FN static void run(const S &s, const unsigned char *x, T *y, const Epi &,
                         int begin, int end) {
    decode_entries_blocks(next_plain_entry<T>(s, x, nullptr), s, x, y, begin,
                          end);
  }
};

template <class S, class Epi> struct decode_huffman_entries_portable {
  NNC_FN static constexpr int units(const S &s) { return decode_blocks(s); }

  template <class T>
  NNC_FN static void run(const S &s, const unsigned char *x, T *y,
                         unsigned char *scratch, const Epi &, int begin,
                         int end) {
    decode_entries_blocks(next_huffman_entry<T>(s, x, scratch), s, x, y, begin,
                          end);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_ENTRIES_H
