//===- literals.h - Sparse weights with any values ------------------------===//
//
// There is an entry for each element that differs from the skipped value, as in
// decode/entries.h, but entries hold the values themselves, stored separately
// from the gaps (decode/plan.h). The result is bitwise equal to the values that
// were stored. A unit is a block.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_LITERALS_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_LITERALS_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/bits.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Writes `count` values to y. The gap of a value is the number of elements of
/// y that are skipped in front of it. The gaps begin at bit `at` of a stream.
template <class T>
NNC_FN NNC_NOINLINE void decode_place_values(const T *values, int count,
                                             const unsigned char *stream,
                                             size_t at, int bits, T *y) {
  const size_t mask = (size_t(1) << bits) - 1;
  bit_reader reader = bits_from(stream, at);
  const int in_word = bit_reader::most / bits;
  NNC_KEEP_LOOP while (count > 0) {
    reader.refill();
    const int now = smaller(count, in_word);
    for (int i = 0; i < now; ++i) {
      y += reader.peek(mask);
      reader.skip(bits);
      *y++ = *values++;
    }
    count -= now;
  }
}

/// Writes the elements of one block.
template <class S, class T>
NNC_FN void decode_literals_block(const S &s, const unsigned char *x, int block,
                                  T *y) {
  const decode_literal_places at(s, static_cast<int>(sizeof(T)));
  const T skipped = *static_cast<const T *>(static_cast<const void *>(x));
  const T *values =
      static_cast<const T *>(static_cast<const void *>(x + at.values));
  const unsigned char *counts = x + at.counts + ptrdiff_t(4) * block;
  const uint32_t first = read_four_bytes(counts);
  const int elements = smaller(s.block, s.elements - block * s.block);
  for (int i = 0; i < elements; ++i)
    y[i] = skipped;
  decode_place_values(
      values + first, static_cast<int>(read_four_bytes(counts + 4) - first),
      x + at.gaps, static_cast<size_t>(first) * static_cast<size_t>(s.gap_bits),
      s.gap_bits, y);
}

template <class S, class Epi> struct decode_literals_portable {
  NNC_FN static constexpr int units(const S &s) { return decode_blocks(s); }

  template <class T>
  NNC_FN static void run(const S &s, const unsigned char *x, T *y, const Epi &,
                         int begin, int end) {
    for (int block = begin; block < end; ++block)
      decode_literals_block(s, x, block, y + ptrdiff_t(block) * s.block);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_LITERALS_H
