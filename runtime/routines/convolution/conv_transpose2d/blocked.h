//===- blocked.h - Transposed 2-D convolution in blocked layouts ----------===//
//
// x and y in NCHW<W>c. w, whose axes are [c][k][kh][kw], is stored as
// [k/W][kh][kw][c][W] (CRSK<W>c; letters name axes in the order of a
// convolution's weight).
//
// Output columns sw apart use the same taps, and each tap reads consecutive
// input pixels for them. A register tile covers COLS such columns times OC
// channel blocks, so nothing is multiplied with the zeros between pixels. Long
// sums are made in parts (tiles/floats.h). One group. A unit is an output row
// of one run of OC blocks.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_BLOCKED_H
#define NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_BLOCKED_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/floats.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/routines/units/thread_ranges.h"

namespace nnc {

template <class V, class S, int COLS, int OC, class Epi>
struct conv_transpose2d_nchwc_t {
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(COLS > 0 && OC > 0, "a tile has points");

  static constexpr int units(const S &s) {
    return s.n * ceil_div(ceil_div(s.k, W), OC) * s.oh;
  }

  static void run(const S &s, const T *x, const T *w, T *y, const Epi &epi,
                  int begin, int end) {
    if constexpr (is_constant<S>)
      static_assert(S::groups == 1, "one group");
    constexpr int left =
        left_over<OC, S>([](const S &shape) { return ceil_div(shape.k, W); });
    const int blocks = ceil_div(s.k, W), tiles = ceil_div(blocks, OC);
    const auto compute = [&](int image, int run, int row) {
      const int first = run * OC;
      const ptrdiff_t in_image = ptrdiff_t(ceil_div(s.c, W)) * s.h * s.w * W;
      in_one_tile<OC, left>(smaller(OC, blocks - first), [&](auto size, int b) {
        const int block = first + b;
        const job j{x + image * in_image,
                    w + block * weight_block(s),
                    y,
                    &epi,
                    ((ptrdiff_t(image) * blocks + block) * s.oh + row) * s.ow *
                        W,
                    block * W,
                    row};
        columns<size>(s, j);
      });
    };
    for_each_run(begin, end, s.oh, tiles, shares_places_of_convolution(s),
                 [&](int image, int run, int first, int last) {
                   for (int i = first; i < last; ++i)
                     compute(image, run, i);
                 });
  }

private:
  /// Values that all tiles of one output row use.
  struct job {
    const T *x; ///< the image
    const T *w; ///< weights of the first block
    T *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the row in the first block
    int channel;   ///< first channel of the first block
    int row;       ///< output row
  };

  static constexpr ptrdiff_t weight_block(const S &s) {
    return ptrdiff_t(s.kh) * s.kw * s.c * W;
  }

  /// Returns true if a pixel may have so many terms that its sum is computed in
  /// parts.
  static constexpr bool splits(const S &s) {
    const int rows = s.dh == 1 ? ceil_div(s.kh, s.sh) : s.kh;
    const int columns = s.dw == 1 ? ceil_div(s.kw, s.sw) : s.kw;
    return rows * columns * s.c > register_tile<V, 1, 1, 1>::most_terms;
  }

  /// Computes an output row of B blocks. Columns phase + i * sw use the same
  /// taps.
  template <int B> static void columns(const S &s, const job &j) {
    for (int phase = 0; phase < s.sw && phase < s.ow; ++phase)
      in_tiles<COLS, -1>(
          0, ceil_div(s.ow - phase, s.sw),
          [&](auto size, int first) { tile<size, B>(s, j, phase, first); });
  }

  /// Computes C of the columns phase + i * sw, from i = first on.
  template <int C, int B>
  NNC_NOINLINE static void tile(const S &s, const job &j, int phase,
                                int first) {
    register_tile<V, 1, C, B> t;
    t.clear();
    alignas(64) T earlier[t.size];
    if (splits(s))
      t.save(earlier);
    int terms = 0;
    for (int r = 0; r < s.kh; ++r) {
      const int h = j.row + s.pt - r * s.dh;
      if (h < 0 || h % s.sh != 0 || h / s.sh >= s.h)
        continue;
      for (int q = 0; q < s.kw; ++q) {
        const int shift = phase + s.pl - q * s.dw;
        if (shift % s.sw != 0)
          continue;
        add_tap<C, B>(s, t, earlier, terms, j.x + ptrdiff_t(h / s.sh) * s.w * W,
                      j.w + ptrdiff_t(r * s.kw + q) * s.c * W,
                      shift / s.sw + first);
      }
    }
    if (splits(s))
      t.add_saved(earlier);
    // Local copies, because the compiler has to assume that stores to y change
    // j.
    const Epi epi = *j.epi;
    T *const y = j.y;
    const int channel = j.channel;
    const ptrdiff_t plane = ptrdiff_t(s.oh) * s.ow * W;
    const ptrdiff_t out = j.out + (phase + ptrdiff_t(first) * s.sw) * W;
    NNC_UNROLL for (int b = 0; b < B; ++b) {
      NNC_UNROLL for (int c = 0; c < C; ++c) {
        const ptrdiff_t at = out + b * plane + ptrdiff_t(c) * s.sw * W;
        store_channels(widen(t.sum[0][c][b]), y, at, channel + b * W, s.k, epi);
      }
    }
  }

  /// Adds one tap: pixel i of the tile reads column left + i of the row.
  /// `earlier` holds the sums of finished parts, and `terms` counts the terms
  /// of the current part.
  template <int C, int B>
  static NNC_INLINE void add_tap(const S &s, register_tile<V, 1, C, B> &t,
                                 T *earlier, int &terms, const T *row,
                                 const T *w, int left) {
    if (left + C <= 0 || left >= s.w)
      return;
    const bool inside = left >= 0 && left + C <= s.w;
    for (int block = 0; block < ceil_div(s.c, W); ++block) {
      const int steps = smaller(W, s.c - block * W);
      if (splits(s) && terms + steps > t.most_terms) {
        t.add_saved(earlier);
        t.save(earlier);
        t.clear();
        terms = 0;
      }
      terms += steps;
      const T *x = row + ptrdiff_t(block) * s.h * s.w * W;
      alignas(64) T copy[C * W];
      if (!inside)
        for (int c = 0; c < C; ++c)
          (left + c >= 0 && left + c < s.w ? V::load(x + (left + c) * W)
                                           : V(T(0)))
              .store(copy + c * W);
      const T *const a[1] = {inside ? x + left * W : copy};
      t.template add<0, C>(a, W, 1, w + ptrdiff_t(block) * W * W,
                           weight_block(s), W, steps);
    }
  }
};

template <class S, int COLS, int OC, class Epi>
using conv_transpose2d_f32_nchw16c_avx512 =
    conv_transpose2d_nchwc_t<f32x<16>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv_transpose2d_f32_nchw8c_avx2 =
    conv_transpose2d_nchwc_t<f32x<8>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv_transpose2d_f32_nchw8c_rvv =
    conv_transpose2d_nchwc_t<f32x<8>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv_transpose2d_f32_nchw4c_neon =
    conv_transpose2d_nchwc_t<f32x<4>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv_transpose2d_f32_nchw4c_sse4 =
    conv_transpose2d_nchwc_t<f32x<4>, S, COLS, OC, Epi>;

template <class S, int COLS, int OC, class Epi>
using conv_transpose2d_f16_nchw8c_neonfp16 =
    conv_transpose2d_nchwc_t<f16x<8>, S, COLS, OC, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_BLOCKED_H
