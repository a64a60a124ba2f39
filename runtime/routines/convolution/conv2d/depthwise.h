//===- depthwise.h - Depthwise 2-D convolution in blocked layouts ---------===//
//
// y[k] = x[k] * w[k]: one filter for each channel (groups = c = k), x and y in
// NCHW<W>c, w in KCRS<W>k. A tile is COLS pixels of one output row and W
// channels. A unit is an output row of one channel block. Elements of x and w
// are those of the vectors, or bf16, whose products are added as floats.
//
// Where the shape is constant, each input pixel is loaded once for a row of
// taps and added to all sums that it belongs to; only columns that may lie
// outside the input are checked. For run-time shapes, each tap loads its
// pixels.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/routines/units/thread_ranges.h"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec_neonfp16.h"

namespace nnc {

struct bf16; // Modules that compute with it include simd/bfloat.h.

/// Offset, in pixels, of row h of input plane `plane`. An overload serves
/// inputs of which only some rows are kept.
template <class S> constexpr ptrdiff_t input_row(const S &s, int plane, int h) {
  return (ptrdiff_t(plane) * s.h + h) * s.w;
}

template <class V, class S, int COLS, class Epi, class T = element_of<V>>
struct conv2d_nchwc_depthwise_t {
  static constexpr int W = lanes<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(COLS > 0, "a tile has pixels");

  static constexpr int units(const S &s) {
    return s.n * ceil_div(s.k, W) * s.oh;
  }

  template <class Y>
  static void run(const S &s, const T *x, const T *w, Y *y, const Epi &epi,
                  int begin, int end) {
    const int blocks = ceil_div(s.k, W);
    for_each_run(begin, end, s.oh, blocks,
                 shares_places_of_planes(s.c, s.h * s.w),
                 [&](int image, int block, int first, int last) {
                   const int plane = image * blocks + block;
                   const auto row = ptrdiff_t(plane) * s.oh + first;
                   rows(s, x, w, y, row * s.ow * W, epi, plane, first, last);
                 });
  }

  /// Computes rows [first, last) of output plane `plane`, and stores them at
  /// y[out] and after it.
  template <class Y>
  static void rows(const S &s, const T *x, const T *w, Y *y, ptrdiff_t out,
                   const Epi &epi, int plane, int first, int last) {
    if constexpr (is_constant<S>)
      static_assert(S::groups == S::c && S::c == S::k, "one filter a channel");
    constexpr int left =
        left_over<COLS, S>([](const S &shape) { return shape.ow; });
    const int block = plane % ceil_div(s.k, W);
    for (int row = first; row < last; ++row) {
      const job<Y> j{x,
                     w + ptrdiff_t(block) * s.kh * s.kw * W,
                     y,
                     &epi,
                     out + ptrdiff_t(row - first) * s.ow * W,
                     plane,
                     block * W,
                     row * s.sh - s.pt};
      in_tiles<COLS, left>(0, s.ow,
                           [&](auto size, int col) { tile<size>(s, j, col); });
    }
  }

private:
  /// Values that all tiles of one output row use.
  template <class Y> struct job {
    const T *x;
    const T *w; ///< weights of the block
    Y *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the row
    int plane;
    int channel; ///< first channel of the block
    int top;     ///< input row of the first tap
  };

  /// Computes C output pixels from column `col` on.
  template <int C, class Y>
  static NNC_INLINE void tile(const S &s, const job<Y> &j, int col) {
    V sum[C];
    NNC_UNROLL for (int c = 0; c < C; ++c) sum[c] = V(element_of<V>(0));
    const int left = col * s.sw - s.pl;
    NNC_KEEP_LOOP for (int r = 0; r < s.kh; ++r) {
      const int h = j.top + r * s.dh;
      if (h < 0 || h >= s.h)
        continue;
      const T *row = j.x + input_row(s, j.plane, h) * W;
      const T *taps = j.w + ptrdiff_t(r) * s.kw * W;
      if constexpr (is_constant<S>)
        pixel_by_pixel<C>(sum, row, taps, left);
      else
        tap_by_tap<C>(s, sum, row, taps, left);
    }
    // Local copies, because the compiler has to assume that stores to y change
    // j.
    const Epi epi = *j.epi;
    Y *const y = j.y;
    const int channel = j.channel;
    const ptrdiff_t out = j.out + ptrdiff_t(col) * W;
    NNC_UNROLL for (int c = 0; c < C; ++c)
        store_channels(widen(sum[c]), y, out + c * W, channel, s.k, epi);
  }

  /// Returns the vector of elements at p.
  static NNC_INLINE V load_vector(const T *p) {
    if constexpr (is_same<T, element_of<V>>::value)
      return V::load(p);
    else
      return load<V>(p);
  }

  /// The pixel that is read in the place of one outside the input.
  static constexpr T zeros[W] = {};

  /// Adds a row of taps, and loads each pixel once. The first tap of sum 0
  /// reads input column `left`.
  template <int C>
  static NNC_INLINE void pixel_by_pixel(V (&sum)[C], const T *row,
                                        const T *taps, int left) {
    constexpr S s{};
    constexpr int columns = (C - 1) * s.sw + (s.kw - 1) * s.dw + 1;
    constexpr int right_pad =
        larger(0, (s.ow - 1) * s.sw + (s.kw - 1) * s.dw - s.pl - (s.w - 1));
    const ptrdiff_t first = ptrdiff_t(left) * W;
    V weight[s.kw];
    NNC_UNROLL for (int t = 0; t < s.kw; ++t) weight[t] =
        load_vector(taps + t * W);
    NNC_UNROLL for (int i = 0; i < columns; ++i) {
      const bool may_be_outside = i < s.pl || i >= columns - right_pad;
      const bool outside = may_be_outside && (left + i < 0 || left + i >= s.w);
      const T *const pixel = row + (first + i * W);
      const V v = in_register(load_vector(outside ? zeros : pixel));
      NNC_UNROLL for (int t = 0; t < s.kw; ++t) {
        const int offset = i - t * s.dw;
        if (offset >= 0 && offset % s.sw == 0 && offset / s.sw < C)
          sum[offset / s.sw] = fma(v, weight[t], sum[offset / s.sw]);
      }
    }
  }

  /// Adds a row of taps, and loads the pixels of each tap. The first tap of sum
  /// 0 reads input column `left`.
  template <int C>
  static NNC_INLINE void tap_by_tap(const S &s, V (&sum)[C], const T *row,
                                    const T *taps, int left) {
    NNC_KEEP_LOOP for (int t = 0; t < s.kw; ++t, left += s.dw) {
      const V weight = load_vector(taps + t * W);
      NNC_UNROLL for (int c = 0; c < C; ++c) {
        const int at = left + c * s.sw;
        const bool outside = at < 0 || at >= s.w;
        const V v = load_vector(outside ? zeros : row + ptrdiff_t(at) * W);
        sum[c] = fma(v, weight, sum[c]);
      }
    }
  }
};

template <class S, int COLS, class Epi>
using conv2d_bf16_nchw16c_depthwise_amxbf16 =
    conv2d_nchwc_depthwise_t<f32x<16>, S, COLS, Epi, bf16>;
template <class S, int COLS, class Epi>
using conv2d_f32_nchw16c_depthwise_avx512 =
    conv2d_nchwc_depthwise_t<f32x<16>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_f32_nchw8c_depthwise_avx2 =
    conv2d_nchwc_depthwise_t<f32x<8>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_f32_nchw8c_depthwise_rvv =
    conv2d_nchwc_depthwise_t<f32x<8>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_f32_nchw4c_depthwise_neon =
    conv2d_nchwc_depthwise_t<f32x<4>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_f32_nchw4c_depthwise_sse4 =
    conv2d_nchwc_depthwise_t<f32x<4>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_f16_nchw8c_depthwise_neonfp16 =
    conv2d_nchwc_depthwise_t<f16x<8>, S, COLS, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DEPTHWISE_H
