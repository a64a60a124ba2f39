//===- entries.h - Weights most of which are zero -------------------------===//
//
// Entries stand for the elements that differ from the last value of the table,
// which is zero in pruned weights: how many elements are skipped, and the value
// ("relative indexed CSR", decode/plan.h). Where more elements are skipped than
// a gap can say, entries of that last value stand in between. The result has
// the bits of the values that were stored. A unit is a block.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_DECODE_ENTRIES_H
#define NNC_ROUTINES_DECODE_ENTRIES_H

#include "runtime/routines/decode/huffman_table.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Writes a block of `count` elements. next(reader, gap) reads an entry of at
/// most `most_bits` bits and returns its value.
template <int most_bits, class T, class F>
void decode_entries_block(const unsigned char *block, T skipped, T *y,
                          int count, F next) {
  for (int i = 0; i < count; ++i)
    y[i] = skipped;
  constexpr int in_word = bit_reader::most / most_bits;
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

template <class S, class Epi> struct decode_entries_portable {
  static constexpr int units(const S &s) { return decode_blocks(s); }

  template <class T>
  static void run(const S &s, const unsigned char *x, T *y, const Epi &,
                  int begin, int end) {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    const T *values = static_cast<const T *>(static_cast<const void *>(x));
    const int gap_bits = s.gap_bits, bits = s.gap_bits + s.value_bits;
    const size_t mask = (size_t(1) << bits) - 1;
    const size_t gap_mask = (size_t(1) << gap_bits) - 1;
    const auto next = [&](bit_reader &reader, int &gap) {
      const size_t entry = reader.peek(mask);
      reader.skip(bits);
      gap = static_cast<int>(entry & gap_mask);
      return values[entry >> gap_bits];
    };
    decode_each_block(
        s, x, at, begin, end,
        [&](const unsigned char *stream, ptrdiff_t first, int count) {
          decode_entries_block<16>(stream, values[s.values - 1], y + first,
                                   count, next);
        });
  }
};

template <class S, class Epi> struct decode_huffman_entries_portable {
  static constexpr int units(const S &s) { return decode_blocks(s); }

  template <class T>
  static void run(const S &s, const unsigned char *x, T *y,
                  unsigned char *scratch, const Epi &, int begin, int end) {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    const T *values = static_cast<const T *>(static_cast<const void *>(x));
    auto *value_steps =
        static_cast<huffman_step *>(static_cast<void *>(scratch));
    huffman_step *gap_steps = value_steps + (ptrdiff_t(1) << s.value_bits);
    fill_huffman_table(value_steps, x + at.value_counts, s.value_bits, false);
    fill_huffman_table(gap_steps, x + at.gap_counts, s.gap_bits, false);
    const size_t value_mask = (size_t(1) << s.value_bits) - 1;
    const size_t gap_mask = (size_t(1) << s.gap_bits) - 1;
    const unsigned char *gaps = x + at.gaps;
    const auto next = [&](bit_reader &reader, int &gap) {
      const huffman_step skip = gap_steps[reader.peek(gap_mask)];
      reader.skip(skip.bits);
      const huffman_step step = value_steps[reader.peek(value_mask)];
      reader.skip(step.bits);
      gap = gaps[skip.first];
      return values[step.first];
    };
    decode_each_block(
        s, x, at, begin, end,
        [&](const unsigned char *stream, ptrdiff_t first, int count) {
          decode_entries_block<2 * decode_most_bits>(
              stream, values[s.values - 1], y + first, count, next);
        });
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_DECODE_ENTRIES_H
