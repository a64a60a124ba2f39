//===- integers_depthwise.h - Depthwise convolution of integers of 8 bits -===//
//
// y[k] = epi(x[k] * w[k]): one filter for each channel (groups = c = k), x and
// y in NCHW<W>c, w in KCSR<W>k<G>r. Sums are exact in 32 bits.
//
// The products of G taps of a column are computed at a time (simd/dots.h). For
// each output row, G rows of the input at a time are interleaved into a line
// that also contains the padding; the taps then read this line.
//
// A unit is an output row of one channel block. A tile is COLS pixels of it.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/integers_depthwise_plan.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/routines/units/thread_ranges.h"
#include "runtime/simd/dots.h"
#include "runtime/store_sums.h"

namespace nnc {

template <class D, class S, int COLS, class Epi>
struct conv2d_integers_depthwise_t {
  static constexpr int W = D::lanes, G = D::group;
  using P = typename D::point;
  static_assert(COLS > 0, "a tile has pixels");

  static constexpr int units(const S &s) {
    return s.n * ceil_div(s.k, W) * s.oh;
  }

  template <class X, class T, class Y>
  static void run(const S &s, const X *x, const T *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const int blocks = ceil_div(s.k, W);
    static_assert(sizeof(X) == 1, "bytes");
    P *const line = reinterpret_cast<P *>(scratch);
    X *const fill =
        reinterpret_cast<X *>(scratch + integers_depthwise_lines(s, W, G));
    for (int i = 0; i < s.w * W; ++i)
      fill[i] = static_cast<X>(s.fill);
    for_each_run(
        begin, end, s.oh, blocks, shares_places_of_planes(s.c, s.h * s.w),
        [&](int image, int block, int first, int last) {
          const int plane = image * blocks + block;
          const X *input = x + ptrdiff_t(plane) * s.h * s.w * W;
          for (int row = first; row < last; ++row) {
            for (int group = 0; group < groups(s); ++group)
              interleave(s, input, fill, row * s.sh - s.pt + group * G * s.dh,
                         smaller(G, s.kh - group * G),
                         line + group * line_size(s));
            output_row(s, line, w + ptrdiff_t(block) * s.kw * groups(s) * W * G,
                       y, (ptrdiff_t(plane) * s.oh + row) * s.ow * W, block * W,
                       epi);
          }
        });
  }

private:
  /// Groups of G rows of taps.
  static constexpr int groups(const S &s) { return ceil_div(s.kh, G); }
  static constexpr int columns(const S &s) {
    return integers_depthwise_columns(s);
  }
  static constexpr ptrdiff_t line_size(const S &s) {
    return ptrdiff_t(columns(s)) * W * G;
  }

  /// Interleaves `count` rows of taps, the first of which reads row `from` of
  /// the input: at each column of the line, channel c has the numbers of all
  /// rows one after the other. Rows outside of the input are `fill`. Missing
  /// rows of the line may hold any numbers, because their weights are zero.
  template <class X>
  static void interleave(const S &s, const X *x, const X *fill, int from,
                         int count, P *line) {
    const X *rows[G];
    uint32_t outside = 0; // a column outside of the input
    for (int i = 0; i < count; ++i) {
      const int row = from + i * s.dh;
      rows[i] = row >= 0 && row < s.h ? x + ptrdiff_t(row) * s.w * W : fill;
      constexpr int bits = 32 / G;
      outside |= (uint32_t(s.fill) & (~0u >> (32 - bits))) << i * bits;
    }
    const i32x<W> edge(static_cast<int32_t>(outside));
    const int first = smaller(s.pl, columns(s));
    const int last = larger(first, smaller(columns(s), s.pl + s.w));
    for (int c = 0; c < first; ++c)
      byte_lanes<W>::store_bits(line + c * W * G, edge);
    P *const inside = line + first * W * G;
    const int start = (first - s.pl) * W, length = last - first;
    if (count == 1)
      interleave_rows<1>(rows, start, length, inside);
    else if (count == 2)
      interleave_rows<2>(rows, start, length, inside);
    else if (count == 3)
      interleave_rows<smaller(3, G)>(rows, start, length, inside);
    else
      interleave_rows<G>(rows, start, length, inside);
    for (int c = last; c < columns(s); ++c)
      byte_lanes<W>::store_bits(line + c * W * G, edge);
  }

  /// Interleaves `length` pixels of N rows from index `start` of each on.
  template <int N, class X>
  static void interleave_rows(const X *const (&rows)[G], int start, int length,
                              P *line) {
    int c = 0;
    if constexpr (G == 4 && N > 2) {
      const int bytes = int(interleave_bytes(
          line, rows[0] + start, rows[1] + start, rows[2] + start,
          N > 3 ? rows[N - 1] + start : nullptr, length * W));
      c = bytes / W;
      start += bytes;
      line += bytes * G;
    }
    for (; c < length; ++c, start += W, line += W * G) {
      // Four bytes of a lane must not get the sign of the first of them.
      const auto load = [&](int row) {
        using T = conditional_t<G == 4, uint8_t, X>;
        return byte_lanes<W>::load(reinterpret_cast<const T *>(rows[row]) +
                                   start);
      };
      i32x<W> v;
      if constexpr (G == 2 && N == 2)
        v = byte_lanes<W>::load_two(rows[0] + start, rows[1] + start);
      else
        v = load(0);
      if constexpr (G == 4 && N > 1)
        v = v | shift_left<8>(load(1));
      if constexpr (G == 4 && N > 2)
        v = v | shift_left<16>(load(2));
      if constexpr (G == 4 && N > 3)
        v = v | shift_left<24>(load(3));
      byte_lanes<W>::store_bits(line, v);
    }
  }

  template <class T, class Y>
  static void output_row(const S &s, const P *line, const T *w, Y *y,
                         ptrdiff_t out, int channel, const Epi &epi) {
    constexpr int left =
        left_over<COLS, S>([](const S &shape) { return shape.ow; });
    in_tiles<COLS, left>(0, s.ow, [&](auto count, int column) {
      tile<count>(s, line + ptrdiff_t(column) * s.sw * W * G, w, y,
                  out + ptrdiff_t(column) * W, channel, epi);
    });
  }

  template <int C, class T, class Y>
  static NNC_INLINE void tile(const S &s, const P *line, const T *w, Y *y,
                              ptrdiff_t out, int channel, const Epi &epilogue) {
    i32x<W> sum[C];
    NNC_UNROLL for (int c = 0; c < C; ++c) sum[c] = i32x<W>(0);
    NNC_KEEP_LOOP for (int t = 0; t < s.kw; ++t) {
      for (int group = 0; group < groups(s); ++group) {
        const P *at = line + group * line_size(s) + t * s.dw * W * G;
        const i32x<W> weights = D::weights(w);
        NNC_UNROLL for (int c = 0; c < C; ++c) sum[c] = D::add(
            sum[c], byte_lanes<W>::load_bits(at + c * s.sw * W * G), weights);
        w += W * G;
      }
    }
    const Epi epi = epilogue;
    store_points(sum, y, out, channel, s.k, epi);
  }
};

template <class S, int COLS, class Epi>
using conv2d_i32_nchw16c_depthwise_avx512vnni =
    conv2d_integers_depthwise_t<byte_dots<16>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw16c_depthwise_avx512 =
    conv2d_integers_depthwise_t<pair_dots<16>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw8c_depthwise_avxvnni =
    conv2d_integers_depthwise_t<byte_dots<8>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw8c_depthwise_avx2 =
    conv2d_integers_depthwise_t<pair_dots<8>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw8c_depthwise_rvv =
    conv2d_integers_depthwise_t<single_dots<8>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw4c_depthwise_sse4 =
    conv2d_integers_depthwise_t<pair_dots<4>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw4c_depthwise_neon =
    conv2d_integers_depthwise_t<pair_dots<4>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw4c_depthwise_neondot =
    conv2d_integers_depthwise_t<signed_dots, S, COLS, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_DEPTHWISE_H
