//===- huffman.h - Weights as Huffman codes -------------------------------===//
//
// y[i] = the value of the canonical Huffman code of element i (decode/plan.h).
// A step of the decoder looks up the next bits in a table, which holds one or
// two values for them. Each call builds the table in its scratch. The result is
// bitwise equal to the values that were stored. A unit is a block.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_HUFFMAN_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_HUFFMAN_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/huffman_table.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Writes the values of `count` codes.
template <class T>
NNC_FN NNC_NOINLINE void
decode_huffman_block(const huffman_step *steps, int bits, const T *values,
                     const unsigned char *stream, T *y, int count) {
  const size_t mask = (size_t(1) << bits) - 1;
  constexpr int in_word = bit_reader::most / decode_most_bits;
  bit_reader reader(stream);
  T *const end = y + count;
  // Each step writes two values, of which the second may be overwritten.
  NNC_KEEP_LOOP while (end - y >= 2 * in_word) {
    reader.refill();
    NNC_UNROLL for (int i = 0; i < in_word; ++i) {
      const huffman_step step = steps[reader.peek(mask)];
      y[0] = values[step.first];
      y[1] = values[step.second];
      y += step.count;
      reader.skip(step.bits);
    }
  }
  NNC_KEEP_LOOP while (y < end) {
    reader.refill();
    const huffman_step step = steps[reader.peek(mask)];
    *y++ = values[step.first];
    if (step.count == 2 && y < end)
      *y++ = values[step.second];
    reader.skip(step.bits);
  }
}

template <class S, class Epi> struct decode_huffman_portable {
  NNC_FN static constexpr int units(const S &s) { return decode_blocks(s); }

  template <class T>
  NNC_FN static void run(const S &s, const unsigned char *x, T *y,
                         unsigned char *scratch, const Epi &, int begin,
                         int end) {
    const decode_places at(s, static_cast<int>(sizeof(T)));
    const T *values = static_cast<const T *>(static_cast<const void *>(x));
    auto *steps = static_cast<huffman_step *>(static_cast<void *>(scratch));
    fill_huffman_table(steps, x + at.value_counts, s.value_bits, true);
    decode_each_block(
        s, x, at, begin, end,
        [&](const unsigned char *stream, ptrdiff_t first, int count) {
          decode_huffman_block(steps, s.value_bits, values, stream, y + first,
                               count);
        });
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_HUFFMAN_H
