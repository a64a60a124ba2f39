//===- codes.h - Weights as indices in tables -----------------------------===//
//
// y[i] = table[code of i], where each block of elements has its own table in
// front of its codes (decode/plan.h). The result is bitwise equal to the values
// that were stored. A unit is decode_unit codes of a block.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_CODES_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_CODES_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/bits.h"
#include "runtime/routines/stored_weights/decode/plan.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Writes the values of `count` codes of `bits` bits.
template <class T>
NNC_FN NNC_NOINLINE void decode_places_of(const T *table,
                                          const unsigned char *codes, int bits,
                                          T *y, int count) {
  const size_t mask = (size_t(1) << bits) - 1;
  const int in_word = bit_reader::most / bits;
  bit_reader reader(codes);
  NNC_KEEP_LOOP while (count > 0) {
    reader.refill();
    const int now = smaller(count, in_word);
    for (int i = 0; i < now; ++i) {
      *y++ = table[reader.peek(mask)];
      reader.skip(bits);
    }
    count -= now;
  }
}

/// Writes the values of `count` codes of 4 bits, two in a byte.
template <class T>
NNC_FN NNC_NOINLINE void decode_halves_of_bytes(const T *table,
                                                const unsigned char *codes,
                                                T *y, int count) {
  NNC_KEEP_LOOP for (; count >= 4; count -= 4, codes += 2, y += 4) {
    const unsigned a = codes[0], b = codes[1];
    y[0] = table[a & 15];
    y[1] = table[a >> 4];
    y[2] = table[b & 15];
    y[3] = table[b >> 4];
  }
  for (int i = 0; i < count; ++i)
    y[i] = table[(codes[i / 2] >> (4 * (i % 2))) & 15];
}

template <class S, class Epi> struct decode_codes_portable {
  NNC_FN static constexpr int units(const S &s) {
    return decode_blocks(s) * decode_units_of_block(s);
  }

  template <class T>
  NNC_FN static void run(const S &s, const unsigned char *x, T *y, const Epi &,
                         int begin, int end) {
    const int parts = decode_units_of_block(s);
    for (int unit = begin; unit < end; ++unit) {
      const int block = unit / parts, first = unit % parts * decode_unit;
      const int here = smaller(s.block, s.elements - block * s.block) - first;
      if (here <= 0)
        continue;
      const unsigned char *group =
          x + block * decode_group(s, static_cast<int>(sizeof(T)));
      const T *table = static_cast<const T *>(static_cast<const void *>(group));
      const unsigned char *codes = group +
                                   s.values * static_cast<int>(sizeof(T)) +
                                   first / 8 * s.value_bits;
      T *to = y + ptrdiff_t(block) * s.block + first;
      const int count = smaller(here, decode_unit);
      if (s.value_bits == 4)
        decode_halves_of_bytes(table, codes, to, count);
      else
        decode_places_of(table, codes, s.value_bits, to, count);
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_CODES_H
