//===- huffman_table.h - Symbols by the bits of their codes ---------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_HUFFMAN_TABLE_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_HUFFMAN_TABLE_H

#include "runtime/functions.h"
#include "runtime/routines/stored_weights/decode/bits.h"

namespace nnc {

/// The symbol that the next bits of a stream encode, or two symbols if both
/// codes fit in these bits. Symbols are indices in the order of canonical
/// codes.
struct huffman_step {
  uint8_t first, second, bits, count;
};

/// Fills a table of 2^bits steps from the number of codes of each length, two
/// bytes for each from 1 to `bits`. Codes are canonical: codes of one length
/// are consecutive, and longer codes follow the shorter ones. A stream has the
/// highest bit of a code first. If there are no codes, all steps are the symbol
/// 0 with no bits. With `pairs`, steps have two symbols if both fit.
NNC_FN inline void fill_huffman_table(huffman_step *table,
                                      const unsigned char *counts, int bits,
                                      bool pairs) {
  const int size = 1 << bits;
  for (int i = 0; i < size; ++i)
    table[i] = {0, 0, 0, 1};
  int code = 0, symbol = 0;
  for (int length = 1; length <= bits; ++length, code *= 2)
    for (int left = read_two_bytes(counts + 2 * (length - 1)); left > 0;
         --left, ++code, ++symbol) {
      int reversed = 0;
      for (int bit = 0; bit < length; ++bit)
        reversed |= (code >> bit & 1) << (length - 1 - bit);
      for (int i = reversed; i < size; i += 1 << length)
        table[i] = {static_cast<uint8_t>(symbol), 0,
                    static_cast<uint8_t>(length), 1};
    }
  // In descending order, so that the step for the bits behind the first symbol
  // has no second symbol yet.
  for (int i = size - 1; pairs && i >= 0; --i) {
    huffman_step &step = table[i];
    const huffman_step next = table[i >> step.bits];
    if (step.bits + next.bits <= bits)
      step = {step.first, next.first,
              static_cast<uint8_t>(step.bits + next.bits), 2};
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_HUFFMAN_TABLE_H
