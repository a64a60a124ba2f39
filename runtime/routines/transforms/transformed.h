//===- transformed.h - Layers computed as products of transformed tiles ---===//
//
// Winograd's and Strassen's methods compute a layer with fewer multiplications.
// Both do three things for each tile of the output: they transform its input
// into a few points, multiply each point by weights that the compiler has
// transformed, and transform the products back.
//
// A strip of tiles is transformed for all input channels. Then, one run of B
// channel blocks after the other, each point is a matrix product of P x B
// register tiles, and the products are transformed back while they are in a
// cache. Alternatively all runs of one point are computed before the next point
// (points_first): this keeps the sums of all runs, but reads the input of one
// point at a time.
//
// A method is a struct T with these members:
//
//   vector                     type of the products' vectors
//   source                     where the input is read from: a pointer, or a
//                              struct of several
//   points                     number of products for each tile
//   summed_channels            channels summed in one go: sums of parts, added,
//                              lose less to rounding than one long sum
//   channels(s), filters(s)    input and output channels of the products
//   plan(s)                    the transformed_plan
//   input(s, p, x, t, n, c, v) transforms block c of the group of n tiles from
//                              tile t on: tile t + i goes to v + i * W, its
//                              further points each p.input_point later
//   factors(s, p, x, v, i, t)  where the input of point i is, for a strip that
//                              begins with tile t and was transformed to v
//   partial(i)                 the place, of p.products, for point i's sums
//                              until they are complete
//   finish(s, p, tile, at)     takes the register tile of a point's complete
//                              sums; see sums_place
//   has_output                 whether there is output(), or else fetch()
//   output(s, p, u, t, k, y, epi)   makes block k of tile t from its products,
//                              which are at u and every p.product_point on
//   fetch(s, p, at)            prefetches what the epilogue reads at the end of
//                              a register tile, before its sums are made
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_TRANSFORMS_TRANSFORMED_H
#define NNC_ROUTINES_TRANSFORMS_TRANSFORMED_H

#include "runtime/epilogue.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/floats.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/routines/transforms/transformed_plan.h"
#include "runtime/routines/units/caches.h"

namespace nnc {

/// Location of one point's transformed input, for a strip. group(t) is the
/// group that begins with tile t of the strip: P vectors of one channel block,
/// side by side. The next channel block is `block` elements later.
template <class E> struct point_factors {
  const E *first;
  ptrdiff_t tile, block;
  const E *group(int t) const { return first + t * tile; }
};

/// input() of a method that transforms each tile by itself, with tile_input().
template <class T, class S, class E>
inline void input_tile_by_tile(const S &s, const transformed_plan &p,
                               const E *x, int t, int count, int c, E *v) {
  for (int i = 0; i < count; ++i)
    T::tile_input(s, p, x, t + i, c, v + i * T::W);
}

/// Destination of a register tile's sums of one point: the output, or places in
/// scratch at `products` and every p.product_point on.
template <class E, class Epi> struct sums_place {
  int point;
  E *products;
  int tile, block; ///< first of the register tile
  E *y;
  const Epi *epi;
};

/// The routine of method T. Weights are [block of W
/// filters][point][channel][W].
template <class T, class S, int P, int B, class Epi>
struct transformed_product {
  using V = typename T::vector;
  using E = element_of<V>;
  static constexpr int W = lanes<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(P > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s, int threads = 1) {
    return T::plan(s).shared(threads).units();
  }

  using source = typename T::source;

  static void run(const S &s, source x, const E *w, E *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end,
                  int threads = 1) {
    const transformed_plan p = T::plan(s).shared(threads);
    E *const input = reinterpret_cast<E *>(scratch);
    const job j{x, w, y, &epi, input, input + p.inputs * p.input_point};
    for (; begin < end; ++begin) {
      const int part = begin / p.run_parts, run = begin % p.run_parts;
      strips(s, p, j, cut(p.groups, part, p.parts),
             cut(p.groups, part + 1, p.parts), cut(p.runs, run, p.run_parts),
             cut(p.runs, run + 1, p.run_parts));
    }
  }

private:
  /// The arguments of a call, and the parts of the thread's scratch.
  struct job {
    source x;
    const E *w;
    E *y;
    const Epi *epi;
    E *input;    ///< [point][group][input block][tile of the group][W]
    E *products; ///< [sum][run, if several][tile of the strip][block][W]
  };

  static constexpr int in_blocks(const S &s) {
    return ceil_div(T::channels(s), W);
  }
  /// Channels of the block that begins with channel c, for register tiles with
  /// N vectors of weights. The result is a constant where all blocks are whole,
  /// but not with three vectors, which g++ then does not keep in registers.
  template <int N> static constexpr int block_channels(const S &s, int c) {
    if constexpr (is_constant<S> && N < 3)
      if constexpr (T::channels(S{}) % W == 0)
        return W;
    return smaller(W, T::channels(s) - c);
  }
  static constexpr int out_blocks(const S &s) {
    return ceil_div(T::filters(s), W);
  }

  /// Computes groups [first, last) times runs [from, to) in strips of about
  /// equal length.
  static void strips(const S &s, const transformed_plan &p, const job &j,
                     int first, int last, int from, int to) {
    const int groups = last - first, count = ceil_div(groups, p.strip_groups);
    for (int i = 0; i < count; ++i)
      strip(s, p, j, (first + cut(groups, i, count)) * P,
            smaller(p.tiles, (first + cut(groups, i + 1, count)) * P), from,
            to);
  }

  /// Computes one strip: tiles [first, last) times runs [from, to).
  static void strip(const S &s, const transformed_plan &p, const job &j,
                    int first, int last, int from, int to) {
    for (int c = 0; c < in_blocks(s); ++c)
      for (int t = first; t < last; t += P) {
        const int at = (t - first) * in_blocks(s) + c * P;
        T::input(s, p, j.x, t, smaller(P, last - t), c, j.input + at * W);
      }
    const int step = p.points_first ? 1 : T::points;
    const ptrdiff_t next =
        p.points_first ? ptrdiff_t(p.strip_tiles) * B * W : 0;
    for (int i = 0; i < T::points; i += step)
      for (int run = from; run < to; ++run)
        multiply(s, p, j, j.products + (run - from) * next, last - first, first,
                 run * B, i, i + step);
  }

  /// Computes the `count` tiles of a strip that begins with tile `first`, for
  /// the run that begins with `block` and for points [point, end).
  static void multiply(const S &s, const transformed_plan &p, const job &j,
                       E *products, int count, int first, int block, int point,
                       int end) {
    constexpr int rest = left_over<B, S>(out_blocks);
    in_one_tile<B, rest>(
        smaller(B, out_blocks(s) - block), [&](auto blocks, int at) {
          multiply_blocks<blocks>(s, p, j, products, count, first, block + at,
                                  point, end);
        });
  }

  /// Elements from the weights of channel c to those that are prefetched
  /// meanwhile: those of later channels, or of a later run if it comes first.
  static ptrdiff_t next_weights(const S &s, const transformed_plan &p, int c) {
    constexpr int ahead = weights_ahead(T::summed_channels);
    const int channels = T::channels(s);
    if (!p.points_first || c + T::summed_channels < channels)
      return ahead * W;
    const int runs = channels < ahead ? ahead / channels : 1;
    return (ptrdiff_t(runs) * B * T::points * channels - c) * W;
  }

  /// multiply() for a run of N blocks.
  template <int N>
  static void multiply_blocks(const S &s, const transformed_plan &p,
                              const job &j, E *products, int count, int first,
                              int block, int point, int end) {
    const ptrdiff_t panel = ptrdiff_t(T::channels(s)) * W;
    const ptrdiff_t w_block = T::points * panel;
    const E *w = j.w + block * w_block + point * panel;
    weights_dealer<E, W, N> dealer(w_block, ceil_div(count, P));
    for (int i = point; i < end; ++i, w += panel) {
      const auto v = T::factors(s, p, j.x, j.input, i, first);
      // The weights of these channels stay in the first-level cache, and the
      // next ones are prefetched meanwhile.
      for (int c = 0; c < T::channels(s); c += T::summed_channels) {
        const E *const own = w + c * W;
        dealer.begin(own + next_weights(s, p, c),
                     smaller(T::summed_channels, T::channels(s) - c), own);
        for (int t = 0; t < count; t += P)
          place<N>(s, p, v.group(t) + c / W * v.block, v.block, own,
                   smaller(P, count - t), c, dealer.next(),
                   {i, products + t * N * W, first + t, block, j.y, j.epi});
      }
    }
    if constexpr (T::has_output)
      for (int b = 0; b < N; ++b)
        for (int t = 0; t < count; ++t)
          T::output(s, p, products + (t * N + b) * W, first + t, block + b, j.y,
                    *j.epi);
  }

  /// Computes `count` tiles of a group with the register tile of that size.
  template <int N>
  static void place(const S &s, const transformed_plan &p, const E *v,
                    ptrdiff_t v_block, const E *w, int count, int channel,
                    const later_weights<E> &later,
                    const sums_place<E, Epi> &at) {
    constexpr int rest =
        left_over<P, S>([](const S &shape) { return T::plan(shape).tiles; });
    in_one_tile<P, rest>(count, [&](auto tiles, int i) {
      tile<tiles, N>(s, p, v + i * W, v_block, w, channel, later,
                     {at.point, at.products + i * N * W, at.tile + i, at.block,
                      at.y, at.epi});
    });
  }

  /// Makes the sums of R tiles and N blocks over summed_channels channels from
  /// `channel` on, and adds those over earlier channels. Saves them as partial
  /// sums or, after the last channel, finishes the register tile.
  template <int R, int N>
  NNC_NOINLINE static void tile(const S &s, const transformed_plan &p,
                                const E *v, ptrdiff_t v_block, const E *w,
                                int channel, later_weights<E> later,
                                const sums_place<E, Epi> &at) {
    const int channels = T::channels(s);
    const int end = smaller(channels, channel + T::summed_channels);
    if constexpr (!T::has_output)
      if (end == channels)
        T::template fetch<R, N>(s, p, at);
    register_tile<V, 1, R, N> t;
    t.clear();
    for (int c = channel; c < end;
         c += W, v += v_block, w += W * W, later.at += W * later.step) {
      const E *const rows[1] = {v};
      t.template add<0, R, fetch_into::level1>(
          rows, W, 1, w, ptrdiff_t(T::points) * channels * W, W,
          block_channels<N>(s, c), later);
    }
    E *const partial = at.products + T::partial(at.point) * p.product_point;
    if (channel > 0)
      t.add_saved(partial);
    if (end < channels)
      return t.save(partial);
    T::finish(s, p, t, at);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_TRANSFORMS_TRANSFORMED_H
