//===- first.h - 2-D convolution of a plain image into blocked channels ---===//
//
// y[k] = sum over c of x[c] * w[k, c], x in plain NCHW with few channels, like
// the images that networks begin with, y in NCHW<W>c, w in KCRS<W>k. Inputs
// with more channels work too, but blocked layouts serve them better.
//
// A register tile covers COLS pixels of one output row times OC channel blocks.
// Where a row of taps reaches out of the input, the tile reads a copy of its
// pixels in which those outside are zero. A unit is an output row of one run of
// OC blocks; the runs of a row are consecutive units, because the last run may
// have fewer blocks.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_FIRST_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_FIRST_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/floats.h"
#include "runtime/routines/tiles/remainder.h"

namespace nnc {

/// Largest number of input columns that a row of taps of one tile may span.
constexpr int first_layer_span = 256;

template <class V, class S, int COLS, int OC, class Epi> struct conv2d_first_t {
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
    for (int unit = begin; unit < end; ++unit) {
      const int row = unit / tiles % s.oh, image = unit / tiles / s.oh;
      const int first = unit % tiles * OC;
      in_one_tile<OC, left>(smaller(OC, blocks - first), [&](auto size, int b) {
        const int block = first + b;
        const job j{x + ptrdiff_t(image) * s.c * s.h * s.w,
                    w + block * weight_block(s),
                    y,
                    &epi,
                    ((ptrdiff_t(image) * blocks + block) * s.oh + row) * s.ow *
                        W,
                    block * W,
                    row * s.sh - s.pt};
        columns<size>(s, j);
      });
    }
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
    int top;       ///< input row of the first tap
  };

  static constexpr ptrdiff_t weight_block(const S &s) {
    return ptrdiff_t(s.c) * s.kh * s.kw * W;
  }

  /// Computes an output row of B channel blocks.
  template <int B> static void columns(const S &s, const job &j) {
    constexpr int left =
        left_over<COLS, S>([](const S &shape) { return shape.ow; });
    in_tiles<COLS, left>(0, s.ow,
                         [&](auto size, int col) { tile<size, B>(s, j, col); });
  }

  /// Computes C pixels from column `col` on of B channel blocks.
  template <int C, int B>
  NNC_NOINLINE static void tile(const S &s, const job &j, int col) {
    register_tile<V, 1, C, B> t;
    t.clear();
    const int left = col * s.sw - s.pl;
    const bool inside = left >= 0 && left + read<C>(s) <= s.w;
    for (int c = 0; c < s.c; ++c)
      for (int r = 0; r < s.kh; ++r) {
        const int h = j.top + r * s.dh;
        if (h < 0 || h >= s.h)
          continue;
        const T *row = j.x + (ptrdiff_t(c) * s.h + h) * s.w;
        const T *w = j.w + ptrdiff_t(c * s.kh + r) * s.kw * W;
        T copy[first_layer_span + W];
        if (!inside)
          copy_row(s, row, left, read<C>(s), copy);
        const T *const a[1] = {inside ? row + left : copy};
        if constexpr (by_lanes<C>())
          add_by_lanes(t, a[0], w);
        else
          t.template add<0, C>(a, s.sw, s.dw, w, weight_block(s), W, s.kw);
      }
    // Local copies, because the compiler has to assume that stores to y change
    // j.
    const Epi epi = *j.epi;
    T *const y = j.y;
    const int channel = j.channel;
    const ptrdiff_t plane = ptrdiff_t(s.oh) * s.ow * W;
    const ptrdiff_t out = j.out + ptrdiff_t(col) * W;
    NNC_UNROLL for (int b = 0; b < B; ++b) {
      NNC_UNROLL for (int c = 0; c < C; ++c) {
        store_channels(widen(t.sum[0][c][b]), y, out + b * plane + c * W,
                       channel + b * W, s.k, epi);
      }
    }
  }

  /// Input columns from the first to the last that a row of taps reads for C
  /// neighbouring output pixels.
  template <int C> static constexpr int span(const S &s) {
    return (C - 1) * s.sw + (s.kw - 1) * s.dw + 1;
  }
  /// Returns true if the columns of span() are loaded once, as vectors whose
  /// lanes serve all C output pixels.
  template <int C> static constexpr bool by_lanes() {
    if constexpr (is_constant<S> && multiplies_by_lane<V>)
      return span<C>(S{}) <= 8 * W;
    return false;
  }
  /// Input columns that are loaded for C output pixels.
  template <int C> static constexpr int read(const S &s) {
    return by_lanes<C>() ? ceil_div(span<C>(s), W) * W : span<C>(s);
  }

  /// Adds a row of taps to the sums. Input pixels are loaded as vectors, and
  /// each multiply-add broadcasts one lane of such a vector.
  template <int C, int B>
  static NNC_INLINE void add_by_lanes(register_tile<V, 1, C, B> &t,
                                      const T *row, const T *w) {
    constexpr S s{};
    constexpr int vectors = read<C>(s) / W;
    V pixels[vectors];
    NNC_UNROLL for (int i = 0; i < vectors; ++i) pixels[i] =
        V::load(row + i * W);
    NNC_UNROLL for (int b = 0; b < B; ++b)
        NNC_UNROLL for (int tap = 0; tap < s.kw; ++tap) {
      // As in tiles/floats.h, this keeps g++ from broadcasting lanes too early.
      NNC_UNROLL for (int i = 0; i < vectors; ++i) pixels[i] =
          in_register(pixels[i]);
      NNC_FORGET_LOADS;
      const V weight = V::load(w + b * weight_block(s) + tap * W);
      NNC_UNROLL for (int c = 0; c < C; ++c) {
        const int at = c * s.sw + tap * s.dw;
        t.sum[0][c][b] =
            fma_lane(pixels[at / W], at % W, weight, t.sum[0][c][b]);
      }
    }
  }

  /// Copies `span` pixels of a row from column `left` on, with zeros outside
  /// it.
  static void copy_row(const S &s, const T *row, int left, int span, T *to) {
    const int begin = smaller(span, larger(0, -left));
    const int end = larger(begin, smaller(span, s.w - left));
    for (int i = 0; i < span; i += W)
      V(T(0)).store(to + i);
    memcpy(to + begin, row + left + begin, size_t(end - begin) * sizeof(T));
  }
};

template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw16c_first_avx512 =
    conv2d_first_t<f32x<16>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw8c_first_avx2 = conv2d_first_t<f32x<8>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw8c_first_rvv = conv2d_first_t<f32x<8>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw4c_first_neon = conv2d_first_t<f32x<4>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f32_nchw4c_first_sse4 = conv2d_first_t<f32x<4>, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_f16_nchw8c_first_neonfp16 =
    conv2d_first_t<f16x<8>, S, COLS, OC, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_FIRST_H
