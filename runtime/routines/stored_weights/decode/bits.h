//===- bits.h - Reads numbers of a few bits -------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_BITS_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_BITS_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/stored_weights/decode/plan.h"

#include <stddef.h>
#include <stdint.h>

namespace nnc {

/// A reader of a stream of bits, least significant bit first. It reads ahead by
/// a machine word: up to decode_behind bytes more than are used.
class bit_reader {
public:
  NNC_FN explicit bit_reader(const unsigned char *stream) : at(stream) {}

  /// The least number of bits that can be read after refill().
  static constexpr int most = 8 * static_cast<int>(sizeof(size_t)) - 8;

  /// Reads bytes until at least `most` bits are available.
  NNC_FN void refill() {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&    \
    __SIZEOF_SIZE_T__ == 8
    uint64_t next;
    __builtin_memcpy(&next, at, sizeof next);
    word |= next << count;
    at += (63 - count) >> 3;
    count |= 56;
#else
    while (count <= most) {
      word |= static_cast<size_t>(*at++) << count;
      count += 8;
    }
#endif
  }
  /// Returns the next bits: as many as `mask`, which has only low bits set,
  /// has.
  NNC_FN size_t peek(size_t mask) const { return word & mask; }
  NNC_FN void skip(int bits) {
    word >>= bits;
    count -= bits;
  }

private:
  const unsigned char *at;
  size_t word = 0;
  int count = 0; ///< bits of the word that were read and not skipped
};

/// Returns a reader of a stream from bit `bit` on.
NNC_FN inline bit_reader bits_from(const unsigned char *stream, size_t bit) {
  bit_reader reader(stream + bit / 8);
  reader.refill();
  reader.skip(static_cast<int>(bit % 8));
  return reader;
}

/// Returns a little-endian number of two or four bytes.
NNC_FN inline int read_two_bytes(const unsigned char *at) {
  return at[0] | at[1] << 8;
}
NNC_FN inline uint32_t read_four_bytes(const unsigned char *at) {
  return static_cast<uint32_t>(at[0]) | static_cast<uint32_t>(at[1]) << 8 |
         static_cast<uint32_t>(at[2]) << 16 |
         static_cast<uint32_t>(at[3]) << 24;
}

/// Calls f(stream, first, count) for each block in [begin, end), with the start
/// of its bytes, the index of its first element, and its number of elements.
template <class S, class F>
NNC_FN void decode_each_block(const S &s, const unsigned char *x,
                              const decode_places &at, int begin, int end,
                              F f) {
  for (int block = begin; block < end; ++block)
    f(x + read_four_bytes(x + at.blocks + ptrdiff_t(4) * block),
      ptrdiff_t(block) * s.block,
      smaller(s.block, s.elements - block * s.block));
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_BITS_H
