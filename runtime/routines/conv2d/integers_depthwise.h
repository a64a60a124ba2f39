//===- integers_depthwise.h - Depthwise convolution of integers of 8 bits -===//
//
// y[k] = epi(x[k] * w[k]): one filter for each channel (groups = c = k), x and
// y in NCHW<W>c, w in KCSR<W>k<G>r. Sums are exact in 32 bits.
//
// The products of G taps of a column are made at a time (simd/dots.h). For
// each output row, G rows of the input at a time are interleaved into a line
// that also contains the padding; the taps then read this line.
//
// A unit is an output row of one channel block. A tile is COLS pixels of it.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONV2D_INTEGERS_DEPTHWISE_H
#define NNC_ROUTINES_CONV2D_INTEGERS_DEPTHWISE_H

#include "runtime/routines/conv2d/integers_depthwise_plan.h"
#include "runtime/routines/remainder.h"
#include "runtime/routines/shares.h"
#include "runtime/simd/dots.h"

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
    P *const line = reinterpret_cast<P *>(scratch);
    for_each_run(
        begin, end, s.oh, blocks, shares_places_of_planes(s.c, s.h * s.w),
        [&](int image, int block, int first, int last) {
          const int plane = image * blocks + block;
          const X *input = x + std::ptrdiff_t(plane) * s.h * s.w * W;
          for (int row = first; row < last; ++row) {
            for (int group = 0; group < groups(s); ++group)
              interleave(s, input, row * s.sh - s.pt + group * G * s.dh,
                         smaller(G, s.kh - group * G),
                         line + group * line_size(s));
            output_row(s, line,
                       w + std::ptrdiff_t(block) * s.kw * groups(s) * W * G, y,
                       (std::ptrdiff_t(plane) * s.oh + row) * s.ow * W,
                       block * W, epi);
          }
        });
  }

private:
  /// Groups of G rows of taps.
  static constexpr int groups(const S &s) { return ceil_div(s.kh, G); }
  static constexpr int columns(const S &s) {
    return integers_depthwise_columns(s);
  }
  static constexpr std::ptrdiff_t line_size(const S &s) {
    return std::ptrdiff_t(columns(s)) * W * G;
  }

  /// Interleaves `count` rows of taps, the first of which reads row `from` of
  /// the input: at each column of the line, channel c has the numbers of all
  /// rows one after the other, and zeros for rows that are missing.
  template <class X>
  static void interleave(const S &s, const X *x, int from, int count, P *line) {
    constexpr int bits = 32 / G;
    const X *rows[G];
    for (int i = 0; i < G; ++i) {
      const int row = from + i * s.dh;
      rows[i] = i < count && row >= 0 && row < s.h
                    ? x + (std::ptrdiff_t(row) * s.w - s.pl) * W
                    : nullptr;
    }
    const int first = smaller(s.pl, columns(s));
    const int last = larger(first, smaller(columns(s), s.pl + s.w));
    const std::uint32_t low = (1u << bits) - 1;
    const std::uint32_t fill = std::uint32_t(s.fill) & low;
    // What the rows outside of the input contribute, and what a column outside
    // of it has.
    std::uint32_t missing = 0, outside = 0;
    for (int i = 0; i < count; ++i) {
      outside |= fill << i * bits;
      if (!rows[i])
        missing |= fill << i * bits;
    }
    const i32x<W> rest(static_cast<std::int32_t>(missing));
    const i32x<W> edge(static_cast<std::int32_t>(outside));
    const i32x<W> mask(static_cast<std::int32_t>(low));
    for (int c = 0; c < first; ++c)
      byte_lanes<W>::store_bits(line + c * W * G, edge);
    bool inside = true;
    for (int i = 0; i < count; ++i)
      inside = inside && rows[i];
    if (inside) {
      interleave_inside(rows, count, first, last, line);
    } else
      for (int c = first; c < last; ++c) {
        i32x<W> v = rest;
        if (rows[0])
          v = v | (byte_lanes<W>::load(rows[0] + c * W) & mask);
        if (rows[1])
          v = v | shift_left<bits>(byte_lanes<W>::load(rows[1] + c * W) & mask);
        if constexpr (G == 4) {
          if (rows[2])
            v = v | shift_left<2 * bits>(byte_lanes<W>::load(rows[2] + c * W) &
                                         mask);
          if (rows[3])
            v = v | shift_left<3 * bits>(byte_lanes<W>::load(rows[3] + c * W) &
                                         mask);
        }
        byte_lanes<W>::store_bits(line + c * W * G, v);
      }
    for (int c = last; c < columns(s); ++c)
      byte_lanes<W>::store_bits(line + c * W * G, edge);
  }

  /// The same for columns [first, last), where all rows lie inside the input.
  /// What a row that is missing leaves in the line meets weights of zero.
  template <class X>
  static void interleave_inside(const X *const (&rows)[G], int count, int first,
                                int last, P *line) {
    const auto columns = [&](auto make) {
      for (int c = first; c < last; ++c)
        byte_lanes<W>::store_bits(line + c * W * G, make(c * W));
    };
    const X *a = rows[0], *b = rows[1];
    if (count == 1)
      return columns([&](int at) { return byte_lanes<W>::load(a + at); });
    if constexpr (G == 2) {
      columns([&](int at) { return byte_lanes<W>::load_two(a + at, b + at); });
    } else {
      const X *c = rows[2], *d = rows[3];
      const auto two = [&](int at) {
        return byte_lanes<W>::load(a + at) |
               shift_left<8>(byte_lanes<W>::load(b + at));
      };
      if (count == 2)
        return columns(two);
      const auto three = [&](int at) {
        return two(at) | shift_left<16>(byte_lanes<W>::load(c + at));
      };
      if (count == 3)
        return columns(three);
      columns([&](int at) {
        return three(at) | shift_left<24>(byte_lanes<W>::load(d + at));
      });
    }
  }

  template <class T, class Y>
  static void output_row(const S &s, const P *line, const T *w, Y *y,
                         std::ptrdiff_t out, int channel, const Epi &epi) {
    constexpr int left =
        left_over<COLS, S>([](const S &shape) { return shape.ow; });
    in_tiles<COLS, left>(0, s.ow, [&](auto count, int column) {
      tile<count>(s, line + std::ptrdiff_t(column) * s.sw * W * G, w, y,
                  out + std::ptrdiff_t(column) * W, channel, epi);
    });
  }

  template <int C, class T, class Y>
  static NNC_INLINE void tile(const S &s, const P *line, const T *w, Y *y,
                              std::ptrdiff_t out, int channel,
                              const Epi &epilogue) {
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
    NNC_UNROLL for (int c = 0; c < C; ++c)
        store_sums(sum[c], y, out + c * W, channel, s.k, epi);
  }
};

template <class S, int COLS, class Epi>
using conv2d_i32_nchw16c_depthwise_avx512vnni =
    conv2d_integers_depthwise_t<byte_dots<16>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw16c_depthwise_avx512 =
    conv2d_integers_depthwise_t<pair_dots<16>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw8c_depthwise_avx2 =
    conv2d_integers_depthwise_t<pair_dots<8>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw4c_depthwise_sse4 =
    conv2d_integers_depthwise_t<pair_dots<4>, S, COLS, Epi>;
template <class S, int COLS, class Epi>
using conv2d_i32_nchw4c_depthwise_neon =
    conv2d_integers_depthwise_t<pair_dots<4>, S, COLS, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONV2D_INTEGERS_DEPTHWISE_H
