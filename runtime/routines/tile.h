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

#include "runtime/routines/policy.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"
#include "runtime/simd/vec_neonfp16.h"

#include <type_traits>

namespace nnc {

/// Weights that later tiles want, a part of which comes while a tile's sums are
/// made: so memory is read all the time, not by the first tile alone, which
/// would wait for it.
template <class T> struct later_weights {
  const T *at;         ///< what the first step fetches
  std::ptrdiff_t step; ///< from there to the next: a vector at most
};

/// Deals out weights of B vectors of W numbers a step, `block` apart, to tiles
/// that make the same number of steps. Of each step a tile fetches parts of two
/// vectors; few tiles leave some to themselves.
template <class T, int W, int B> class weights_dealer {
public:
  weights_dealer(std::ptrdiff_t w_block, int tiles)
      : block(w_block), sharers(larger(1, tiles / pairs)),
        step(ceil_div(W, sharers)), parts(ceil_div(W, int(step))) {}

  /// The tiles that follow fetch `steps` steps from `from` on. What they use
  /// themselves begins at `used`: to fetch that costs nothing.
  void begin(const T *from, int steps, const T *used) {
    first = from;
    own = used;
    advance = step * steps;
    part = pair = 0;
  }
  later_weights<T> next() {
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
  static constexpr int pairs = ceil_div(B, 2); // of vectors
  std::ptrdiff_t block;
  int sharers; ///< tiles that fetch one pair of each step
  std::ptrdiff_t step;
  int parts; ///< of the sharers have something to fetch
  const T *first = nullptr, *own = nullptr;
  std::ptrdiff_t advance = 0;
  int part = 0, pair = 0;
};

/// Steps that a turn of a tile's loop makes with narrow vectors, B of them a
/// step. g++ gives the sums other registers in each step and runs out of AVX2's
/// in four: it saved three of 6 x 2 sums to memory in each turn, which took
/// them 9 % longer. With three vectors it has none left in two steps either,
/// and reads weights for each use: in four it does so less.
template <class V, int B> constexpr int narrow_steps_a_turn = 4;
#if defined(__GNUC__) && !defined(__clang__)
template <int B>
inline constexpr int narrow_steps_a_turn<f32x<8>, B> = B < 3 ? 2 : 4;
#endif

/// The cache that weights are fetched into.
enum class fetch_into { nothing, level1, level2 };

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
      sizeof(V) > 32 || multiplies_by_lane<V> ? 1 : narrow_steps_a_turn<V, B>;

  V sum[ROWS][COLS][B];

  NNC_INLINE void clear() {
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = 0; c < COLS; ++c)
            NNC_UNROLL for (int b = 0; b < B; ++b) sum[r][c][b] = V(T(0));
  }

  /// For each step i, point (r, c) with FIRST <= c < LAST and vector b:
  ///   sum[r][c][b] += a[r][(c - FIRST) * a_col + i * a_step]
  ///                   * w[b * w_block + i * w_step + lane]
  /// Meanwhile `later` weights are fetched.
  template <int FIRST, int LAST, fetch_into CACHE = fetch_into::nothing>
  NNC_INLINE void add(const T *const (&a)[ROWS], std::ptrdiff_t a_col,
                      std::ptrdiff_t a_step, const T *w, std::ptrdiff_t w_block,
                      std::ptrdiff_t w_step, int steps,
                      later_weights<T> later = {}) {
    int i = 0;
    if constexpr (multiplies_by_lane<V>)
      if (a_step == 1)
        NNC_KEEP_LOOP for (; i + W <= steps; i += W) {
          const T *at[ROWS];
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

  /// Of vectors that lie side by side, one in so many begins a cache line.
  static constexpr int steps_a_line = vectors_in_line<T, W>;

  /// Fetches what so many steps want, a line of a vector's numbers at a time.
  template <fetch_into CACHE, int STEPS>
  static NNC_INLINE void fetch(later_weights<T> &later,
                               std::ptrdiff_t w_block) {
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
  template <int FIRST, int LAST>
  NNC_INLINE void add_lanes(const T *const (&a)[ROWS], std::ptrdiff_t a_col,
                            const T *w, std::ptrdiff_t w_block,
                            std::ptrdiff_t w_step) {
    V value[ROWS][COLS];
    NNC_UNROLL for (int r = 0; r < ROWS; ++r)
        NNC_UNROLL for (int c = FIRST; c < LAST; ++c) value[r][c] =
            V::load(a[r] + (c - FIRST) * a_col);
    NNC_UNROLL for (int b = 0; b < B; ++b) {
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
