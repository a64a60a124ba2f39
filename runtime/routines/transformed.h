//===- transformed.h - Products of what was transformed -------------------===//
//
// Methods that compute a layer with fewer multiplications (Winograd's and
// Strassen's) do the same three things for each tile of the output: they
// transform its input into a few points, multiply each point by weights that
// were transformed when compiling, and transform the products back.
//
// A strip of tiles is transformed for all input channels; then, a run of B
// channel blocks after the other, each point is a matrix product of P x B
// register tiles, and what comes out is transformed back while it is in the
// cache.
//
// What a method says of itself, as a struct T:
//
//   points                     of a tile
//   summed_channels            summed in one go: sums of so many products,
//                              summed, lose less to rounding than one sum of
//                              all
//   channels(s), filters(s)    of the input and the output of the products
//   plan(s)                    the transformed_plan
//   input(s, p, x, t, c, v)    block c of tile t, to v and every p.input_point
//                              on from there
//   output(s, p, u, t, k, y, epi)   block k of tile t, from u and every
//                              p.product_point on from there
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TRANSFORMED_H
#define NNC_ROUTINES_TRANSFORMED_H

#include "runtime/epilogue.h"
#include "runtime/routines/pieces.h"
#include "runtime/routines/tile.h"
#include "runtime/routines/transformed_plan.h"

namespace nnc {

/// Weights are [block of W filters][point][channel][W].
template <int W, class T, class S, int P, int B, class Epi>
struct transformed_product {
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(P > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s) { return T::plan(s).units(); }

  static void run(const S &s, const float *x, const float *w, float *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const transformed_plan p = T::plan(s);
    // No two threads begin with the same unit.
    float *const mine =
        reinterpret_cast<float *>(scratch + begin * p.unit_scratch());
    const job j{x, w, y, &epi, mine, mine + T::points * p.input_point};
    while (begin < end) {
      // Whole parts one after the other, or some runs of one part.
      const int part = begin / p.run_parts, from = begin % p.run_parts;
      const int whole = from == 0 ? (end - begin) / p.run_parts : 0;
      const int to =
          whole ? p.run_parts : smaller(p.run_parts, from + end - begin);
      const int parts = larger(1, whole);
      strips(s, p, j, cut(p.groups, part, p.parts),
             cut(p.groups, part + parts, p.parts),
             cut(p.runs, from, p.run_parts), cut(p.runs, to, p.run_parts));
      begin += parts * (to - from);
    }
  }

private:
  struct job {
    const float *x, *w;
    float *y;
    const Epi *epi;
    float *input;    ///< [point][group][input block][tile of the group][W]
    float *products; ///< [point][block of the run][tile of the strip][W]
  };

  static constexpr int in_blocks(const S &s) {
    return ceil_div(T::channels(s), W);
  }
  static constexpr int out_blocks(const S &s) {
    return ceil_div(T::filters(s), W);
  }

  /// Groups [first, last) times runs [from, to), in strips of one length.
  static void strips(const S &s, const transformed_plan &p, const job &j,
                     int first, int last, int from, int to) {
    const int groups = last - first, count = ceil_div(groups, p.strip_groups);
    for (int i = 0; i < count; ++i)
      strip(s, p, j, (first + cut(groups, i, count)) * P,
            smaller(p.tiles, (first + cut(groups, i + 1, count)) * P), from,
            to);
  }

  /// Tiles [first, last) times runs [from, to).
  static void strip(const S &s, const transformed_plan &p, const job &j,
                    int first, int last, int from, int to) {
    for (int c = 0; c < in_blocks(s); ++c)
      for (int t = first; t < last; ++t) {
        const int at = (t - first) / P * in_blocks(s) * P + c * P;
        T::input(s, p, j.x, t, c, j.input + (at + (t - first) % P) * W);
      }
    for (int run = from; run < to; ++run)
      multiply(s, p, j, last - first, first, run * B);
  }

  /// The `count` tiles of a strip that begins with tile `first`, times the run
  /// of blocks that begins with `block`.
  static void multiply(const S &s, const transformed_plan &p, const job &j,
                       int count, int first, int block) {
    constexpr int rest = left_over<B, S>(out_blocks);
    in_one_tile<B, rest>(
        smaller(B, out_blocks(s) - block), [&](auto blocks, int at) {
          multiply_blocks<blocks>(s, p, j, count, first, block + at);
        });
  }

  template <int N>
  static void multiply_blocks(const S &s, const transformed_plan &p,
                              const job &j, int count, int first, int block) {
    const std::ptrdiff_t panel = std::ptrdiff_t(T::channels(s)) * W;
    const float *w = j.w + block * T::points * panel;
    const float *v = j.input;
    float *to = j.products;
    for (int i = 0; i < T::points; ++i) {
      // The weights of these channels stay in the first-level cache; meanwhile
      // the next come from memory.
      for (int c = 0; c < T::channels(s); c += T::summed_channels)
        for (int t = 0; t < count; t += P)
          place<N>(s, p, v + (std::ptrdiff_t(t) * in_blocks(s) + c / W * P) * W,
                   w + c * W, to + t * W, smaller(P, count - t), c);
      v += p.input_point;
      w += panel;
      to += p.product_point;
    }
    for (int b = 0; b < N; ++b)
      for (int t = 0; t < count; ++t)
        T::output(s, p,
                  j.products + (std::ptrdiff_t(b) * p.strip_tiles + t) * W,
                  first + t, block + b, j.y, *j.epi);
  }

  /// Picks the register tile for `count` tiles of a group.
  template <int N>
  static void place(const S &s, const transformed_plan &p, const float *v,
                    const float *w, float *to, int count, int channel) {
    constexpr int rest =
        left_over<P, S>([](const S &shape) { return T::plan(shape).tiles; });
    in_one_tile<P, rest>(count, [&](auto tiles, int at) {
      tile<tiles, N>(s, p, v + at * W, w, to + at * W, channel);
    });
  }

  /// The channels summed in one go from `channel` on, added to those before.
  template <int R, int N>
  NNC_NOINLINE static void tile(const S &s, const transformed_plan &p,
                                const float *v, const float *w, float *to,
                                int channel) {
    const int channels = T::channels(s);
    const int end = smaller(channels, channel + T::summed_channels);
    f32_tile<W, 1, R, N> t;
    t.clear();
    for (int c = channel; c < end; c += W, v += P * W, w += W * W) {
      const float *const rows[1] = {v};
      t.template add<0, R>(rows, W, 1, w,
                           std::ptrdiff_t(T::points) * channels * W, W,
                           smaller(W, channels - c), transformed_ahead * W);
    }
    NNC_UNROLL for (int b = 0; b < N; ++b)
        NNC_UNROLL for (int i = 0; i < R; ++i) {
      float *const at = to + (std::ptrdiff_t(b) * p.strip_tiles + i) * W;
      if (channel > 0)
        t.sum[0][i][b] += f32x<W>::load(at);
      t.sum[0][i][b].store(at);
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TRANSFORMED_H
