//===- tiles.h - 2-D convolution on tile registers ------------------------===//
//
// y[k] = epi(sum over c of x[c] * w[k, c]): x and y in NCHW16c, w in
// KRSC16k4c, or in KRSC16k2c for floats of 16 bits. Sums of bytes are exact in
// 32 bits; those of bf16 are floats.
//
// A tile of points has one tap of 16 outputs, 64 bytes of channels of each.
// tiles_plan.h says how the input of a strip is copied so that these follow
// each other. A block of 2 x 2 tiles has 32 outputs and 32 channels. Its sums
// go to memory, and the epilogue computes results of them while the products of
// the next block are under way. The last step of a tap ends with the channels
// of the tap: where these are no whole steps, it begins with channels of the
// step before, and zeros of the copy. A tap has at least 64 bytes of channels.
//
// A unit is two blocks of output channels of a strip. Groups are supported
// where both c / groups and k / groups are multiples of 16.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_H

#include "runtime/routines/convolution/conv2d/tiles_copy.h"
#include "runtime/routines/convolution/conv2d/tiles_plan.h"
#include "runtime/routines/convolution/conv2d/tiles_results.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/matrix.h"

namespace nnc {

/// The plan for a constant shape S.
template <class S, int BYTES, int KB>
constexpr conv2d_tiles_plan plan_of_tiles = plan_conv2d_tiles(S{}, BYTES, KB);

/// The routine for factors of BYTES bytes, with copies of about KB * 1024
/// bytes.
template <int BYTES, class S, int KB, class Epi> struct conv2d_tiles_t {
  static constexpr bool uses_tiles = true;
  static constexpr int W = tile_columns;

  static constexpr int units(const S &s) { return plan(s).units(); }

  template <class X, class T, class Y>
  static void run(const S &s, const X *x, const T *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    static_assert(sizeof(X) == BYTES && sizeof(T) == BYTES, "sizes of factors");
    const conv2d_tiles_plan p = plan(s);
    const int runs = ceil_div(p.out_blocks, 2);
    const auto *weights = reinterpret_cast<const unsigned char *>(w);
    const ptrdiff_t plane = ptrdiff_t(p.out_height) * p.out_width * W;
    tile_sums<X> sums[2];
    tile_results<X, Y, Epi> pending(y, epi, p.pitch, p.out_width, plane, s.k);
    while (begin < end) {
      const int strip = begin / runs, first = begin % runs;
      const int last = smaller(runs, first + end - begin);
      const int image = strip / (p.down * p.across);
      const int place = strip % (p.down * p.across);
      const int row = place / p.across * p.rows;
      const int column = place % p.across * p.columns;
      const int rows = smaller(p.rows, p.out_height - row);
      const int columns = smaller(p.columns, p.out_width - column);
      const int group = image % s.groups;
      const ptrdiff_t input = ptrdiff_t(p.height) * p.width * W;
      copy_strip(s, p, x + image * p.blocks * input, row, column, rows, columns,
                 reinterpret_cast<X *>(scratch));
      const int points = (rows - 1) * p.pitch + columns;
      for (int run = first; run < last; ++run) {
        const int local = run * 2, block = group * p.out_blocks + local;
        panels at{};
        at.columns = smaller(2, p.out_blocks - local);
        at.weights = weights + block * p.panel;
        const ptrdiff_t out =
            (ptrdiff_t(image / s.groups) * s.groups * p.out_blocks + block) *
                plane +
            (ptrdiff_t(row) * p.out_width + column) * W;
        for (int i = 0; i < points; i += 2 * tile_rows) {
          at.points = scratch + ptrdiff_t(i) * tile_row_bytes;
          at.rows = points - i > tile_rows ? 2 : 1;
          in_block(at.rows, at.columns, [&](auto R, auto C) {
            products<R, C, T>(s, p, at, sums[pending.turn], pending);
          });
          pending.begin(sums[pending.turn], at.columns, i,
                        smaller(points - i, 2 * tile_rows), columns, out,
                        block * W);
        }
      }
      begin += last - first;
    }
    pending.store(2 * tile_rows);
  }

private:
  static constexpr conv2d_tiles_plan plan(const S &s) {
    return plan_conv2d_tiles(s, BYTES, KB);
  }

  /// The tiles that a block of sums adds up.
  struct panels {
    const unsigned char *points;  ///< the first output in the copy
    const unsigned char *weights; ///< the first panel
    int rows, columns;            ///< tiles of points, panels
  };

  /// Returns the plan, a constant if the shape is constant.
  static const conv2d_tiles_plan &known(const conv2d_tiles_plan &given) {
    if constexpr (is_constant<S>)
      return plan_of_tiles<S, BYTES, KB>;
    else
      return given;
  }

  /// Computes the sums of a block, and stores results of the block before.
  template <int R, int C, class T, class X, class Y>
  NNC_NOINLINE static void products(const S &s, const conv2d_tiles_plan &given,
                                    const panels &at, tile_sums<X> &sums,
                                    tile_results<X, Y, Epi> &before) {
    tile_block<X, T, R, C> block;
    block.clear();
    const conv2d_tiles_plan &p = known(given);
    const int share = ceil_div(before.runs(), p.steps);
    const unsigned char *taps = at.weights;
    tile_places from{};
    from.stride = tile_row_bytes;
    NNC_KEEP_LOOP for (int r = 0; r < s.kh; ++r) {
      NNC_KEEP_LOOP for (int t = 0; t < s.kw; ++t) {
        from.points[0] = at.points + p.tap(s, r, t);
        const unsigned char *last =
            taps + ptrdiff_t(p.words) * tile_row_bytes - tile_bytes;
        NNC_KEEP_LOOP for (int g = 0; g < p.groups; ++g) {
          from.points[1] = from.points[0] + tile_bytes;
          from.weights[0] = g == p.groups - 1 ? last : taps + g * tile_bytes;
          from.weights[1] = from.weights[0] + p.panel;
          block.add(from);
          before.store(share);
          from.points[0] += p.group;
        }
        taps += ptrdiff_t(p.words) * tile_row_bytes;
      }
    }
    before.store(2 * tile_rows);
    block.store(sums);
  }
};

template <class S, int KB, class Epi>
using conv2d_bf16_nchw16c_amxbf16 = conv2d_tiles_t<2, S, KB, Epi>;
template <class S, int KB, class Epi>
using conv2d_i32_nchw16c_amxint8 = conv2d_tiles_t<1, S, KB, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_TILES_H
