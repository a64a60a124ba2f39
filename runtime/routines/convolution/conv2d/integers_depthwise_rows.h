//===- integers_depthwise_rows.h - Depthwise convolution of bytes, by taps ===//
//
// y[k] = epi(x[k] * w[k]): one filter for each channel (groups = c = k), x and
// y in NCHW4c, w in KCRS4k. Sums are exact in 32 bits, for any bytes.
//
// Rows of the input are copied first, with the padding, which has the value
// `fill`. There is room for the rows that one output row reads; each row of the
// input is copied once for all output rows that follow each other. A tile
// widens the pixels of a row to 16 bits, two to a vector, and multiplies them
// by each tap of the row: smlal and smlal2 of AArch64 multiply the lower and
// the upper half.
//
// A unit is an output row of one channel block. A tile is COLS pixels of it.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_ROWS_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_ROWS_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/integers_depthwise_rows_plan.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/routines/units/thread_ranges.h"
#include "runtime/simd/long_products.h"
#include "runtime/store_sums.h"

namespace nnc {

template <class S, int COLS, class Epi>
struct conv2d_integers_depthwise_rows_t {
  static constexpr int W = 4;
  static_assert(COLS > 0, "a tile has pixels");
  using plan_type = integers_depthwise_rows_plan;

  static constexpr int units(const S &s) {
    return s.n * ceil_div(s.k, W) * s.oh;
  }

  template <class X, class T, class Y>
  static void run(const S &s, const X *x, const T *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    static_assert(sizeof(X) == 1, "bytes");
    const plan_type p = plan_integers_depthwise_rows(s, W);
    const int blocks = ceil_div(s.k, W);
    auto *const taps = reinterpret_cast<int16_t *>(scratch);
    auto *const places = reinterpret_cast<int32_t *>(scratch + p.tap_bytes);
    X *const lines =
        reinterpret_cast<X *>(scratch + p.tap_bytes + p.place_bytes);
    // The padding beside all rows, and a row of padding.
    const int first = smaller(s.pl, p.columns);
    const int last = larger(first, smaller(p.columns, s.pl + s.w));
    for (ptrdiff_t i = 0; i < p.line * (p.reach + 1); ++i)
      lines[i] = static_cast<X>(s.fill);
    for_each_run(
        begin, end, s.oh, blocks, shares_places_of_planes(s.c, s.h * s.w),
        [&](int image, int block, int from, int to) {
          const int plane = image * blocks + block;
          const X *input = x + ptrdiff_t(plane) * s.h * s.w * W;
          widen_taps(s, w + ptrdiff_t(block) * s.kh * s.kw * W, taps);
          int copied = from * s.sh - s.pt; // the next row to copy
          for (int row = from; row < to; ++row) {
            const int top = row * s.sh - s.pt;
            for (copied = larger(copied, top); copied < top + p.reach; ++copied)
              if (copied >= 0 && copied < s.h)
                memcpy(lines + slot(p, copied) * p.line + first * W,
                       input + (ptrdiff_t(copied) * s.w + first - s.pl) * W,
                       static_cast<size_t>(last - first) * W);
            for (int r = 0; r < s.kh; ++r) {
              const int at = top + r * s.dh;
              places[r] = static_cast<int32_t>(
                  p.line * (at >= 0 && at < s.h ? slot(p, at) : p.reach));
            }
            output_row(s, lines, places, taps, y,
                       (ptrdiff_t(plane) * s.oh + row) * s.ow * W, block * W,
                       epi);
          }
        });
  }

private:
  using products = long_products;

  /// The place of row `row` of the input, which is not negative.
  static constexpr int slot(const plan_type &p, int row) {
    return row % p.reach;
  }

  /// Stores the taps of a block of channels, each twice.
  template <class T>
  static void widen_taps(const S &s, const T *w, int16_t *taps) {
    for (int t = 0; t < s.kh * s.kw; ++t)
      if constexpr (sizeof(T) == 1)
        products::store(taps + t * 2 * W, products::load_one(w + t * W));
      else
        for (int i = 0; i < 2 * W; ++i)
          taps[t * 2 * W + i] = w[t * W + i % W];
  }

  template <class X, class Y>
  static void output_row(const S &s, const X *lines, const int32_t *places,
                         const int16_t *taps, Y *y, ptrdiff_t out, int channel,
                         const Epi &epi) {
    constexpr int left =
        left_over<COLS, S>([](const S &shape) { return shape.ow; });
    in_tiles<COLS, left>(0, s.ow, [&](auto count, int column) {
      constexpr int C = count;
      i32x<W> sum[C];
      NNC_UNROLL for (int c = 0; c < C; ++c) sum[c] = i32x<W>(0);
      NNC_KEEP_LOOP for (int r = 0; r < s.kh; ++r) {
        const X *at = lines + places[r] + ptrdiff_t(column) * s.sw * W;
        const int16_t *own = taps + r * s.kw * 2 * W;
        if (s.dw == 1 && s.kw == 3 && s.sw == 1)
          add_row<3, 1>(sum, at, own);
        else if (s.dw == 1 && s.kw == 3 && s.sw == 2)
          add_row<3, 2>(sum, at, own);
        else if (s.dw == 1 && s.kw == 5 && s.sw == 1)
          add_row<5, 1>(sum, at, own);
        else if (s.dw == 1 && s.kw == 5 && s.sw == 2)
          add_row<5, 2>(sum, at, own);
        else
          for (int t = 0; t < s.kw; ++t)
            add_tap(s, sum, at + ptrdiff_t(t) * s.dw * W, own + t * 2 * W);
      }
      const Epi local = epi;
      store_points(sum, y, out + ptrdiff_t(column) * W, channel, s.k, local);
    });
  }

  /// Adds a row of KW taps, whose outputs are STRIDE pixels of the input apart.
  /// Reads up to three pixels beyond the last tap of the last output.
  template <int KW, int STRIDE, int C, class X>
  static NNC_INLINE void add_row(i32x<W> (&sum)[C], const X *x,
                                 const int16_t *taps) {
    constexpr int pixels = (C - 1) * STRIDE + KW, fours = (pixels + 3) / 4;
    products::pair pair[2 * fours];
    NNC_UNROLL for (int i = 0; i < fours; ++i)
        products::load_two(x + i * 4 * W, pair[2 * i], pair[2 * i + 1]);
    NNC_UNROLL for (int t = 0; t < KW; ++t) {
      const products::pair tap = products::load(taps + t * 2 * W);
      NNC_UNROLL for (int c = 0; c < C; ++c) {
        const int pixel = c * STRIDE + t;
        sum[c] = pixel % 2 ? products::add_high(sum[c], pair[pixel / 2], tap)
                           : products::add_low(sum[c], pair[pixel / 2], tap);
      }
    }
  }

  /// Adds one tap, whose first pixel is at x.
  template <int C, class X>
  static NNC_INLINE void add_tap(const S &s, i32x<W> (&sum)[C], const X *x,
                                 const int16_t *taps) {
    const products::pair tap = products::load(taps);
    NNC_UNROLL for (int c = 0; c < C; ++c) {
      const X *pixel = x + ptrdiff_t(c) * s.sw * W;
      sum[c] = products::add_low(sum[c], products::load_one(pixel), tap);
    }
  }
};

template <class S, int COLS, class Epi>
using conv2d_i32_nchw4c_depthwise_neon64 =
    conv2d_integers_depthwise_rows_t<S, COLS, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_ROWS_H
