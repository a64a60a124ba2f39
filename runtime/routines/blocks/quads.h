//===- quads.h - Exchanges among four lanes of a warp ---------------------===//
//
// The sums of an `mma` are spread over quads, four lanes whose numbers differ
// in the lowest two bits.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_BLOCKS_QUADS_H
#define NNC_ROUTINES_BLOCKS_QUADS_H

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/simd/unroll.h"

#include <stdint.h>

namespace nnc {

/// A step of a transpose of four words in each of four lanes: swaps bit BIT of
/// the number of the word and that of the lane.
template <int BIT, class B> NNC_INLINE void exchange_in_quad(B &b, words4 &w) {
  const bool upper = (b.thread() & BIT) != 0;
  NNC_UNROLL
  for (int j = 0; j < 4; ++j)
    if ((j & BIT) == 0) {
      uint32_t &low = w.word[j], &high = w.word[j | BIT];
      const uint32_t got = b.shuffle_xor(upper ? low : high, BIT);
      low = upper ? got : low;
      high = upper ? high : got;
    }
}

/// Transposes the matrix of 4 x 4 words of which each lane of a quad holds a
/// row: lane i gets word i of each lane.
template <class B> NNC_INLINE void transpose_in_quad(B &b, words4 &w) {
  exchange_in_quad<1>(b, w);
  exchange_in_quad<2>(b, w);
}

} // namespace nnc

#endif // NNC_ROUTINES_BLOCKS_QUADS_H
