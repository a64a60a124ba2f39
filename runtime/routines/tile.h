//===- tile.h - A register tile of sums of products -----------------------===//
//
// The inner loop that convolution and matrix product share: P points (pixels,
// rows of A) times B vectors (channel blocks, columns of B) of W lanes. Each
// step loads B vectors of weights whole and multiplies each by one broadcast
// value a point. P * B sums stay in registers, so P * B + B + 1 should not pass
// the number of registers. Where a multiply-add takes its broadcast operand
// from a lane of a vector, W steps load each point once: P * B + P + 2 should
// not.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILE_H
#define NNC_ROUTINES_TILE_H

#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"
#include "runtime/simd/vec_neonfp16.h"

#include <type_traits>

namespace nnc {

template <class V, int ROWS, int COLS, int B> struct register_tile {
  static_assert(ROWS > 0 && COLS > 0 && B > 0, "an empty tile");
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  /// A sum of more terms is made in parts: a random one of n loses 0.3 sqrt(n)
  /// of a number's last bit to rounding.
  static constexpr int most_terms = std::is_same<T, float>::value ? 512 : 64;
  /// Steps that a turn of the loop makes. With narrow vectors a step is so few
  /// multiply-adds that the loop's own instructions tell: they took AVX2 5 %
  /// longer on a Zen 3, and up to 30 % beside another program on the same core.
  static constexpr int steps_a_turn =
      sizeof(V) <= 32 && !multiplies_by_lane<V> ? 4 : 1;

  V sum[ROWS][COLS][B];

  NNC_INLINE void clear() {
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = 0; c < COLS; ++c)
            NNC_UNROLL for (int b = 0; b < B; ++b) sum[r][c][b] = V(T(0));
  }

  /// For each step i, point (r, c) with FIRST <= c < LAST and vector b:
  ///   sum[r][c][b] += a[r][(c - FIRST) * a_col + i * a_step]
  ///                   * w[b * w_block + i * w_step + lane]
  /// and, unless it is 0, as it never is if FETCH, the weights `ahead` of these
  /// are fetched: they are needed soon, and may come from beyond the caches.
  template <int FIRST, int LAST, bool FETCH = false>
  NNC_INLINE void add(const T *const (&a)[ROWS], std::ptrdiff_t a_col,
                      std::ptrdiff_t a_step, const T *w, std::ptrdiff_t w_block,
                      std::ptrdiff_t w_step, int steps,
                      std::ptrdiff_t ahead = 0) {
    int i = 0;
    if constexpr (multiplies_by_lane<V>)
      if (a_step == 1)
        NNC_KEEP_LOOP for (; i + W <= steps; i += W) {
          const T *at[ROWS];
          NNC_UNROLL for (int r = 0; r < ROWS; ++r) at[r] = a[r] + i;
          add_lanes<FIRST, LAST, FETCH>(at, a_col, w + i * w_step, w_block,
                                        w_step, ahead);
        }
    if constexpr (steps_a_turn > 1)
      NNC_KEEP_LOOP for (; i + steps_a_turn <= steps; i += steps_a_turn)
          NNC_UNROLL for (int j = 0; j < steps_a_turn; ++j) {
        if (FETCH || ahead)
          if (begins_line(j * w_step, w_step))
            fetch_weights(w + (i + j) * w_step + ahead, w_block);
        add_step<FIRST, LAST>(a, a_col, a_step, w, w_block, w_step, i + j);
      }
    NNC_KEEP_LOOP for (; i < steps; ++i) {
      if (FETCH || ahead)
        fetch_weights(w + i * w_step + ahead, w_block);
      add_step<FIRST, LAST>(a, a_col, a_step, w, w_block, w_step, i);
    }
  }

  static NNC_INLINE void fetch_weights(const T *w, std::ptrdiff_t w_block) {
    NNC_UNROLL for (int b = 0; b < B; ++b) NNC_PREFETCH(w + b * w_block);
  }
  /// Whether the numbers from `at` on, of steps `step` apart, are the first in
  /// their line of 64 bytes.
  static constexpr bool begins_line(std::ptrdiff_t at, std::ptrdiff_t step) {
    return at * std::ptrdiff_t(sizeof(T)) % 64 <
           step * std::ptrdiff_t(sizeof(T));
  }

  template <int FIRST, int LAST>
  NNC_INLINE void add_step(const T *const (&a)[ROWS], std::ptrdiff_t a_col,
                           std::ptrdiff_t a_step, const T *w,
                           std::ptrdiff_t w_block, std::ptrdiff_t w_step,
                           int i) {
    NNC_FORGET_LOADS;
    V weight[B];
    NNC_UNROLL for (int b = 0; b < B; ++b) weight[b] =
        V::load(w + i * w_step + b * w_block);
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = FIRST; c < LAST; ++c) {
      const V v(a[r][i * a_step + (c - FIRST) * a_col]);
      NNC_UNROLL for (int b = 0; b < B; ++b) sum[r][c][b] =
          fma(v, weight[b], sum[r][c][b]);
    }
  }

  /// W steps of values that lie side by side: one load of a point serves them
  /// all.
  template <int FIRST, int LAST, bool FETCH>
  NNC_INLINE void add_lanes(const T *const (&a)[ROWS], std::ptrdiff_t a_col,
                            const T *w, std::ptrdiff_t w_block,
                            std::ptrdiff_t w_step, std::ptrdiff_t ahead) {
    V value[ROWS][COLS];
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = FIRST; c < LAST; ++c) value[r][c] =
            V::load(a[r] + (c - FIRST) * a_col);
    NNC_UNROLL for (int b = 0; b < B; ++b) {
      if (FETCH || ahead)
        NNC_PREFETCH(w + b * w_block + ahead);
      // Else g++ broadcasts each lane once for all blocks, and runs out of
      // registers.
      NNC_UNROLL for (int r = 0; r < ROWS; ++r)
          NNC_UNROLL for (int c = FIRST; c < LAST; ++c) value[r][c] =
              in_register(value[r][c]);
      NNC_UNROLL for (int lane = 0; lane < W; ++lane) {
        if (lane % 2 == 0)
          NNC_FORGET_LOADS;
        const V weight = V::load(w + b * w_block + lane * w_step);
        NNC_UNROLL for (int r = 0; r < ROWS; ++r)
            NNC_UNROLL for (int c = FIRST; c < LAST; ++c) sum[r][c][b] =
                fma_lane(value[r][c], lane, weight, sum[r][c][b]);
      }
    }
  }

  /// Keeps the sums for later in `size` numbers, and adds them to others: sums
  /// of parts, summed, lose less to rounding than one long sum.
  static constexpr int size = ROWS * COLS * B * W;
  /// The same with others, saved before, added in what is kept.
  template <class... From> NNC_INLINE void save(T *to, From... from) const {
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = 0; c < COLS; ++c)
            NNC_UNROLL for (int b = 0; b < B; ++b) {
      const int at = ((r * COLS + c) * B + b) * W;
      (sum[r][c][b] + ... + V::load(from + at)).store(to + at);
    }
  }
  NNC_INLINE void add_saved(const T *from) {
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = 0; c < COLS; ++c)
            NNC_UNROLL for (int b = 0; b < B; ++b) sum[r][c][b] +=
        V::load(from + ((r * COLS + c) * B + b) * W);
  }
};

template <int W, int ROWS, int COLS, int B>
using f32_tile = register_tile<f32x<W>, ROWS, COLS, B>;

} // namespace nnc

#endif // NNC_ROUTINES_TILE_H
