//===- flash_store.cuh - What flash.cuh does with sums of values ----------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_STORE_CUH
#define NNC_ROUTINES_ATTENTION_FLASH_STORE_CUH

#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/attention/flash_tile.cuh"
#include "runtime/routines/blocks/elements.h"
#include "runtime/routines/blocks/quads.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>
#include <stdint.h>

namespace nnc {

/// Divides the sums of values by those of weights, and stores them.
template <class Tile, class B, class S, class Softmax, class Sums>
NNC_INLINE void flash_store(B &b, const S &s, const flash_place_of<Tile> &at,
                            const Softmax &softmax, const Sums &o,
                            typename Tile::element *y) {
  const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
  const int query = at.query + warp * Tile::warp_queries + lane / 4;
  y += ((ptrdiff_t(at.image) * s.queries + query) * s.heads + at.head) *
       s.value_dim;
  NNC_UNROLL
  for (int i = 0; i < Softmax::rows; ++i) {
    const float inverse = softmax.inverse(b, i);
    NNC_UNROLL
    for (int c = 0; c < Tile::chunks; c += 4) {
      words4 w;
      NNC_UNROLL
      for (int j = 0; j < 4; ++j) {
        const float *const x = &o[i / 2][c + j][i % 2 * 2];
        w.word[j] = rounded_pair<typename Tile::element>(b, x[0] * inverse,
                                                         x[1] * inverse);
      }
      // Lane t of four has word t of each of four chunks, and gets chunk c + t.
      transpose_in_quad(b, w);
      const int chunk = c + lane % 4;
      if (query + i * 8 < s.queries && chunk * Tile::elements < s.value_dim)
        b.store_global(reinterpret_cast<words4 *>(
                           y + ptrdiff_t(i * 8) * s.heads * s.value_dim +
                           chunk * Tile::elements),
                       w);
    }
  }
}

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_STORE_CUH
