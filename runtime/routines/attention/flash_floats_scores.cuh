//===- flash_floats_scores.cuh - Tiles and masks of flash_floats.cuh ------===//
//
// Lanes 8 g to 8 g + 7 of a warp share rows g, g + 4, ... of its queries. Lane
// 8 g + t has the scores of keys t, t + 8, t + 16 and t + 24 of each step.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_FLOATS_SCORES_CUH
#define NNC_ROUTINES_ATTENTION_FLASH_FLOATS_SCORES_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/attention/flash_scores.cuh"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

#include <stddef.h>
#include <string.h>

namespace nnc {

/// A block computes QUERIES rows of y in steps of 32 keys. Rows have up to DIM
/// elements.
template <int DIM, int QUERIES> struct flash_floats_tile {
  using element = float;
  static constexpr int dim = DIM, queries = QUERIES, keys = 32;
  static constexpr int warps = 4, threads = warps * warp_lanes;
  static constexpr int elements = 4; ///< of a chunk
  static constexpr int chunks = DIM / elements, row_bytes = DIM * 4;
  static constexpr int rows = QUERIES / 16; ///< of a thread
  static constexpr int q_bytes = QUERIES * row_bytes;
  static constexpr int rows_bytes = keys * row_bytes; ///< of k, or of v
  static constexpr int weights_bytes = QUERIES * keys * 4;
  static constexpr int shared_bytes = q_bytes + 2 * rows_bytes + weights_bytes;

  static_assert(DIM % 32 == 0, "eight lanes have whole chunks of a row");
  static_assert(QUERIES % 16 == 0, "four groups of lanes in four warps");
  static_assert(shared_bytes <= 64 << 10, "it fits into what sm_75 has");
};

/// Four floats of shared memory.
struct flash_four {
  float element[4];
};
template <class B> NNC_INLINE flash_four flash_load(B &b, shared_address at) {
  const words4 words = b.template load_shared<words4>(at);
  flash_four values;
  memcpy(&values, &words, 16);
  return values;
}

/// The place of the chunk of weights of four keys, in bytes. Rows that a warp
/// stores to, or loads, at a time are in different banks.
NNC_INLINE int flash_weights_place(int row, int chunk) {
  return row * (32 * 4) + (chunk ^ (row % 4 * 2)) * 16;
}

/// Scores without a mask, scaled to powers of 2.
struct flash_floats_unmasked {
  static constexpr float power = 1;
  template <class B, class S, int ROWS>
  NNC_INLINE void apply(B &b, const S &s, float (&scores)[ROWS][4],
                        int first) const {
    const float factor = s.scale * flash_log2e;
    const int left = s.keys - first - b.thread() % 8;
    NNC_UNROLL
    for (auto &row : scores) {
      NNC_UNROLL
      for (int j = 0; j < 4; ++j)
        row[j] = j * 8 < left ? row[j] * factor : flash_minus_infinity;
    }
  }
};

/// Scores with a mask of elements of type M, as they are defined.
template <int ROWS, class M> struct flash_floats_masked {
  static constexpr float power = flash_log2e;
  const M *rows[ROWS]; ///< of the mask, from the lane's first key on

  /// `query` is the lane's first one.
  template <class B, class S, class At>
  NNC_INLINE flash_floats_masked(B &b, const S &s, const At &at, const M *mask,
                                 int query) {
    mask += at.of(s.mask_strides) + b.thread() % 8;
    // Queries beyond the last one, whose results are not stored, have its mask.
    NNC_UNROLL
    for (int i = 0; i < ROWS; ++i)
      rows[i] = mask + ptrdiff_t(smaller(query + i * 4, s.queries - 1)) *
                           s.mask_strides[2];
  }
  template <class B, class S>
  NNC_INLINE void apply(B &b, const S &s, float (&scores)[ROWS][4],
                        int first) const {
    const int left = s.keys - first - b.thread() % 8;
    NNC_UNROLL
    for (int i = 0; i < ROWS; ++i) {
      NNC_UNROLL
      for (int j = 0; j < 4; ++j) {
        const float added = j * 8 < left
                                ? float(b.load_global(rows[i] + first + j * 8))
                                : flash_minus_infinity;
        scores[i][j] = fma(scores[i][j], s.scale, added);
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_FLOATS_SCORES_CUH
