//===- flash_scores.cuh - Masks and weights of flash.cuh ------------------===//
//
// The softmax of the scores of a step, where the lane of a warp holds those of
// rows g and g + 8 of each 16 queries, and columns 2 t and 2 t + 1 of each 8
// keys (g = lane / 4, t = lane % 4).
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_SCORES_CUH
#define NNC_ROUTINES_ATTENTION_FLASH_SCORES_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

#include <stddef.h>
#include <stdint.h>

namespace nnc {

constexpr float flash_log2e = 0x1.715476p+0f;
constexpr float flash_lowest = -0x1.fffffep+127f;
constexpr float flash_minus_infinity = -__builtin_inff();

/// Attention without a mask: scores are scaled to powers of 2.
template <class Tile> struct flash_unmasked {
  static constexpr float power = 1; ///< of 2, for a score of 1

  template <class B, class S, class Scores>
  NNC_INLINE void apply(B &b, const S &s, Scores &scores, int first) const {
    const float factor = s.scale * flash_log2e;
    NNC_UNROLL
    for (auto &row : scores)
      NNC_UNROLL
    for (auto &eight : row)
      NNC_UNROLL
    for (float &x : eight)
      x *= factor;
    if (first + Tile::keys <= s.keys)
      return;
    const int key = first + b.thread() % 4 * 2;
    NNC_UNROLL
    for (auto &row : scores)
      NNC_UNROLL
    for (int j = 0; j < Tile::keys / 8; ++j)
      NNC_UNROLL
    for (int e = 0; e < 4; ++e)
      if (key + j * 8 + e % 2 >= s.keys)
        row[j][e] = flash_minus_infinity;
  }
};

/// Two elements that one instruction loads.
template <class M> struct alignas(2 * sizeof(M)) flash_pair {
  M element[2];
};

/// Attention with a mask of elements of type M. Scores remain as they are
/// defined, because those with the lowest float as a mask, which have to remain
/// finite, would not be so times log2 e.
template <class Tile, class M> struct flash_masked {
  static constexpr float power = flash_log2e; ///< of 2, for a score of 1
  static constexpr int row_tiles = Tile::warp_queries / 16;

  const M *rows[row_tiles * 2]; ///< of the mask, from the lane's first key on
  bool pairs;                   ///< whether all pairs of keys are aligned

  template <class S>
  NNC_INLINE flash_masked(const S &s, const M *mask, int image, int head,
                          int first_query, int thread) {
    const int(&by)[3] = s.mask_strides;
    const int query = first_query + thread / warp_lanes * Tile::warp_queries +
                      thread % warp_lanes / 4;
    pairs = reinterpret_cast<uintptr_t>(mask) % sizeof(flash_pair<M>) == 0 &&
            by[0] % 2 == 0 && by[1] % 2 == 0 && by[2] % 2 == 0;
    mask += ptrdiff_t(image) * by[0] + ptrdiff_t(head) * by[1] + thread % 4 * 2;
    // Queries beyond the last one, whose results are not stored, have its mask.
    NNC_UNROLL
    for (int i = 0; i < row_tiles * 2; ++i)
      rows[i] = mask + ptrdiff_t(smaller(query + i * 8, s.queries - 1)) * by[2];
  }
  template <class B, class S, class Scores>
  NNC_INLINE void apply(B &b, const S &s, Scores &scores, int first) const {
    if (pairs && first + Tile::keys <= s.keys) {
      NNC_UNROLL
      for (int i = 0; i < row_tiles * 2; ++i)
        NNC_UNROLL
      for (int j = 0; j < Tile::keys / 8; ++j) {
        const auto pair = b.load_global(
            reinterpret_cast<const flash_pair<M> *>(rows[i] + first + j * 8));
        float *const x = &scores[i / 2][j][i % 2 * 2];
        x[0] = fma(x[0], s.scale, float(pair.element[0]));
        x[1] = fma(x[1], s.scale, float(pair.element[1]));
      }
      return;
    }
    const int left = s.keys - first - b.thread() % 4 * 2;
    NNC_UNROLL
    for (int i = 0; i < row_tiles * 2; ++i)
      NNC_UNROLL
    for (int j = 0; j < Tile::keys / 8; ++j)
      NNC_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float added =
          j * 8 + e < left ? float(b.load_global(rows[i] + first + j * 8 + e))
                           : flash_minus_infinity;
      float &x = scores[i / 2][j][i % 2 * 2 + e];
      x = fma(x, s.scale, added);
    }
  }
};

/// The largest scores so far of the ROWS rows of a thread, and its part of the
/// sums of their weights. LANES threads, which follow each other, share a row.
template <int ROWS, int LANES> struct flash_softmax {
  static constexpr int rows = ROWS;
  float largest[ROWS], sum[ROWS];

  /// The lowest finite number, because -inf minus -inf would be NaN. Queries
  /// that see no key divide 0 by 0, as a softmax of -inf does.
  NNC_INLINE flash_softmax() {
    NNC_UNROLL
    for (int i = 0; i < ROWS; ++i) {
      largest[i] = flash_lowest;
      sum[i] = 0;
    }
  }
  /// Turns the scores of row i, of which score(j) is one of COUNT, into
  /// weights, 2^(power * (score - largest score so far)). Returns the factor
  /// that scales earlier weights.
  template <int COUNT, class B, class Score>
  NNC_INLINE float weigh(B &b, int i, float power, Score score) {
    float most = largest[i];
    NNC_UNROLL
    for (int j = 0; j < COUNT; j += 2)
      most = b.larger(most, b.larger(score(j), score(j + 1)));
    NNC_UNROLL
    for (int by = 1; by < LANES; by *= 2)
      most = b.larger(most, b.shuffle_xor(most, by));
    const float shrink = b.exp2((largest[i] - most) * power);
    largest[i] = most;
    float part = 0;
    NNC_UNROLL
    for (int j = 0; j < COUNT; ++j) {
      float &x = score(j);
      x = b.exp2((x - most) * power);
      part += x;
    }
    sum[i] = fma(sum[i], shrink, part);
    return shrink;
  }
  /// The factor that divides row i by the sum of its weights.
  template <class B> NNC_INLINE float inverse(B &b, int i) const {
    float total = sum[i];
    NNC_UNROLL
    for (int by = 1; by < LANES; by *= 2)
      total += b.shuffle_xor(total, by);
    return 1.0f / total;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_SCORES_CUH
