//===- floats.h - A register tile of sums of products of floats -----------===//
//
// The inner loop of convolutions and matrix products. A register tile holds the
// sums of P points (pixels, or rows of A) times B vectors of W lanes (blocks of
// output channels, or columns of B). Each step of the sum loads B vectors of
// weights and multiplies each by one broadcast value of every point. Sums,
// weights and a broadcast value have to fit into the register file: P * B + B +
// 1 registers. Where a multiply-add takes its broadcast operand from a lane of
// a vector, one load of a point serves W steps, and a tile needs P * B + P + 2
// registers.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TILES_FLOATS_H
#define NNC_ROUTINES_TILES_FLOATS_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/units/caches.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"
#include "runtime/simd/vec_neonfp16.h"

namespace nnc {

/// Weights that later tiles will read, and of which a tile prefetches a part
/// while it makes its sums. So memory is read all the time; otherwise the first
/// tile that needs the weights would wait for all of them.
template <class T> struct later_weights {
  const T *at;    ///< address that the first step prefetches
  ptrdiff_t step; ///< elements between steps; at most W
};

/// Divides the prefetching of weights among tiles that make the same number of
/// steps. The weights are B streams, `block` elements apart, of a vector of W
/// elements a step. Each tile prefetches a contiguous part of two streams, a
/// few elements in each of its steps. If there are fewer tiles than pairs of
/// streams, the remaining pairs are not prefetched.
template <class T, int W, int B> class weights_dealer {
public:
  NNC_FN weights_dealer(ptrdiff_t w_block, int tiles)
      : block(w_block), sharers(larger(1, tiles / pairs)),
        step(ceil_div(W, sharers)), parts(ceil_div(W, int(step))) {}

  /// Starts another assignment of parts: each of the next tiles prefetches a
  /// part of the weights of `steps` steps from `from` on. A tile that gets no
  /// part prefetches from `used`, weights that the tiles read anyway, which
  /// costs nothing.
  NNC_FN void begin(const T *from, int steps, const T *used) {
    first = from;
    own = used;
    advance = step * steps;
    part = pair = 0;
  }
  /// Returns the part of the next tile.
  NNC_FN later_weights<T> next() {
    if (part == sharers) {
      part = 0;
      ++pair;
    }
    const int mine = part++;
    if (mine >= parts || pair >= pairs)
      return {own, 0};
    return {first + 2 * pair * block + mine * advance, step};
  }

private:
  static constexpr int pairs = ceil_div(B, 2); // of streams
  ptrdiff_t block;
  int sharers; ///< tiles that divide one pair of streams
  ptrdiff_t step;
  int parts; ///< sharers whose part is not empty
  const T *first = nullptr, *own = nullptr;
  ptrdiff_t advance = 0;
  int part = 0, pair = 0;
};

/// Steps in one iteration of a tile's loop, for vectors of at most 32 bytes and
/// B vectors of weights a step. g++ gives the sums other registers in each step
/// and runs out of AVX2's registers with four: it spilled three of 6 x 2 sums
/// in each iteration, which took 9 % longer. With three vectors of weights no
/// register is left even with two steps, and g++ reads weights again for each
/// use; it does so less often with four.
template <class V, int B> constexpr int narrow_steps_a_turn = 4;
#if defined(__GNUC__) && !defined(__clang__)
template <int B>
inline constexpr int narrow_steps_a_turn<f32x<8>, B> = B < 3 ? 2 : 4;
#endif

/// The cache level that weights are prefetched into.
enum class fetch_into { nothing, level1, level2 };

/// ROWS x COLS points times B vectors V of sums. They stay in registers where
/// all loops over them are unrolled.
template <class V, int ROWS, int COLS, int B> struct register_tile {
  static_assert(ROWS > 0 && COLS > 0 && B > 0, "an empty tile");
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  /// The sizes of arrays, unsigned: g++ warns of a signed one with
  /// -Wsign-conversion.
  static constexpr size_t rows = ROWS, cols = COLS, blocks = B;
  /// Longest sum, in terms, that is made in one go. Longer sums are made in
  /// parts that are then added, because the rounding error of a random sum of n
  /// terms is about 0.3 sqrt(n) ulp.
  static constexpr int most_terms = is_same<T, float>::value ? 512 : 64;
  /// Steps in one iteration of the loop. With narrow vectors a step has so few
  /// multiply-adds that the loop's own instructions cost time: one step an
  /// iteration took 5 % longer with AVX2 on a Zen 3, and up to 30 % longer
  /// beside another program on the same core.
  static constexpr int steps_a_turn =
      sizeof(V) > 32 || multiplies_by_lane<V> ? 1 : narrow_steps_a_turn<V, B>;

  V sum[rows][cols][blocks];

  NNC_INLINE void clear() {
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = 0; c < COLS; ++c)
            NNC_UNROLL for (int b = 0; b < B; ++b) sum[r][c][b] = V(T(0));
  }

  /// Adds `steps` steps to the sums, and prefetches `later` weights meanwhile.
  /// For each step i, point (r, c) with FIRST <= c < LAST and vector b:
  ///   sum[r][c][b] += a[r][(c - FIRST) * a_col + i * a_step]
  ///                   * w[b * w_block + i * w_step + lane]
  template <int FIRST, int LAST, fetch_into CACHE = fetch_into::nothing>
  NNC_INLINE void add(const T *const (&a)[rows], ptrdiff_t a_col,
                      ptrdiff_t a_step, const T *w, ptrdiff_t w_block,
                      ptrdiff_t w_step, int steps,
                      later_weights<T> later = {}) {
    int i = 0;
    if constexpr (multiplies_by_lane<V>)
      if (a_step == 1)
        NNC_KEEP_LOOP for (; i + W <= steps; i += W) {
          const T *at[rows];
          NNC_UNROLL for (int r = 0; r < ROWS; ++r) at[r] = a[r] + i;
          fetch<CACHE, W>(later, w_block);
          add_lanes<FIRST, LAST>(at, a_col, w + i * w_step, w_block, w_step);
        }
    if constexpr (steps_a_turn > 1)
      NNC_KEEP_LOOP for (; i + steps_a_turn <= steps; i += steps_a_turn)
          NNC_UNROLL for (int j = 0; j < steps_a_turn; ++j) {
        if (j % steps_a_line == 0)
          fetch<CACHE, smaller(steps_a_line, steps_a_turn)>(later, w_block);
        add_step<FIRST, LAST>(a, a_col, a_step, w, w_block, w_step, i + j);
      }
    NNC_KEEP_LOOP for (; i < steps; ++i) {
      fetch<CACHE, 1>(later, w_block);
      add_step<FIRST, LAST>(a, a_col, a_step, w, w_block, w_step, i);
    }
  }

  /// Contiguous vectors of weights in a cache line, for which one prefetch
  /// suffices.
  static constexpr int steps_a_line = vectors_in_line<T, W>;

  /// Prefetches the part of `later` of STEPS steps, one cache line at a time.
  template <fetch_into CACHE, int STEPS>
  static NNC_INLINE void fetch(later_weights<T> &later, ptrdiff_t w_block) {
    if constexpr (CACHE != fetch_into::nothing)
      NNC_UNROLL for (int i = 0; i < STEPS; i += steps_a_line) {
        fetch_line<CACHE>(later.at);
        if constexpr (B > 1)
          fetch_line<CACHE>(later.at + w_block);
        later.at += smaller(STEPS, steps_a_line) * later.step;
      }
  }
  template <fetch_into CACHE> static NNC_INLINE void fetch_line(const T *at) {
    if constexpr (CACHE == fetch_into::level1)
      NNC_PREFETCH(at);
    else
      NNC_PREFETCH_LEVEL2(at);
  }

  /// Adds step i of add().
  template <int FIRST, int LAST>
  NNC_INLINE void add_step(const T *const (&a)[rows], ptrdiff_t a_col,
                           ptrdiff_t a_step, const T *w, ptrdiff_t w_block,
                           ptrdiff_t w_step, int i) {
    NNC_FORGET_LOADS;
    V weight[blocks];
    NNC_UNROLL for (int b = 0; b < B; ++b) weight[b] =
        V::load(w + i * w_step + b * w_block);
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = FIRST; c < LAST; ++c) {
      const V v(a[r][i * a_step + (c - FIRST) * a_col]);
      NNC_UNROLL for (int b = 0; b < B; ++b) sum[r][c][b] =
          fma(v, weight[b], sum[r][c][b]);
    }
  }

  /// Adds W steps of points whose values are contiguous (a_step = 1): one load
  /// of a point serves all steps.
  template <int FIRST, int LAST>
  NNC_INLINE void add_lanes(const T *const (&a)[rows], ptrdiff_t a_col,
                            const T *w, ptrdiff_t w_block, ptrdiff_t w_step) {
    V value[rows][cols];
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = FIRST; c < LAST; ++c) value[r][c] =
            V::load(a[r] + (c - FIRST) * a_col);
    NNC_UNROLL for (int b = 0; b < B; ++b) {
      // Without this, g++ broadcasts each lane once for all blocks and runs out
      // of registers.
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

  /// Elements that save() stores and add_saved() loads. A long sum is made in
  /// parts because sums of parts, added, lose less to rounding than one long
  /// sum.
  static constexpr int size = ROWS * COLS * B * W;
  /// Stores the sums at `to`, each plus those saved at every `from`.
  template <class... From> NNC_INLINE void save(T *to, From... from) const {
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = 0; c < COLS; ++c)
            NNC_UNROLL for (int b = 0; b < B; ++b) {
      const int at = ((r * COLS + c) * B + b) * W;
      (sum[r][c][b] + ... + V::load(from + at)).store(to + at);
    }
  }
  /// Adds the sums saved at `from` to the tile's.
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

#endif // NNC_ROUTINES_TILES_FLOATS_H
