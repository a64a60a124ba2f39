//===- integers_winograd.h - Winograd's 3 x 3 convolution of bytes --------===//
//
// y[k] = epi(sum over c of x[c] * w[k, c]) for 3 x 3 taps and a stride of 1,
// with 16 products for each 2 x 2 outputs instead of 36: F(2 x 2, 3 x 3) of
// Winograd (MNN, section 3.3.1). x and y in NCHW<W>c, w in
// KRSC<W>k4c_integer_winograd2, whose bytes are numbers of 16 bits.
//
// All results are exact. The transform of the input adds and subtracts 8-bit
// numbers twice, so that its results fit in 16 bits, and so do the transformed
// weights, which are multiplied by 4 to avoid fractions. The sums are 4 times
// those of the convolution; intermediate overflow beyond 32 bits wraps around
// and cancels out. A shift by two bits gives the sums of the convolution.
//
// A unit is a run of B blocks of output channels of a chunk of tiles.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_WINOGRAD_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_WINOGRAD_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/integers_winograd_plan.h"
#include "runtime/routines/tiles/integers.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/store_sums.h"

namespace nnc {

template <int WIDTH, class S, int P, int B, class Epi>
struct conv2d_integers_winograd_t {
  static constexpr int W = WIDTH;
  using D = pair_dots<W>;
  using plan_type = integers_winograd_plan;
  static constexpr int points = plan_type::points;
  static_assert(P > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s) {
    const plan_type p = plan(s);
    return s.n * p.chunks * ceil_div(p.out_blocks, B);
  }

  /// The weights are 16-bit integers, whatever T is.
  template <class X, class T, class Y>
  static void run(const S &s, const X *x, const T *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const plan_type p = plan(s);
    const int runs = ceil_div(p.out_blocks, B);
    auto *input = reinterpret_cast<int16_t *>(scratch);
    auto *sums =
        reinterpret_cast<int32_t *>(scratch + whole_lines(2 * p.input));
    const auto *weights = reinterpret_cast<const int16_t *>(w);
    constexpr int left =
        left_over<B, S>([](const S &shape) { return plan(shape).out_blocks; });
    while (begin < end) {
      const int chunk = begin / runs, first = begin % runs;
      const int last = smaller(runs, first + end - begin);
      const int image = chunk / p.chunks;
      const int from = chunk % p.chunks * p.chunk;
      const int tiles = smaller(p.chunk, p.tile_rows * p.tile_columns - from);
      transform_input(s, p, x, image, from, tiles, input);
      for (int run = first; run < last; ++run)
        in_one_tile<B, left>(smaller(B, p.out_blocks - run * B), [&](auto count,
                                                                     int at) {
          const int block = run * B + at;
          multiply<count>(s, p, input, weights + block * weight_block(s), tiles,
                          sums);
          transform_sums<count>(s, p, sums, y, image, block, from, tiles, epi);
        });
      begin += last - first;
    }
  }

private:
  // A vector of W numbers, which compilers keep in registers.
  typedef int16_t words __attribute__((vector_size(2 * W)));

  static constexpr plan_type plan(const S &s) {
    return plan_integers_winograd(s, W, P, B);
  }
  /// Steps of two channels.
  static constexpr int steps(const S &s) { return ceil_div(s.c, 2); }
  /// Weights of a point, and of all points, of a block of output channels.
  static constexpr ptrdiff_t weight_point(const S &s) {
    return ptrdiff_t(steps(s)) * W * 2;
  }
  static constexpr ptrdiff_t weight_block(const S &s) {
    return points * weight_point(s);
  }

  /// Stores the transformed input of tiles [from, from + tiles): each point of
  /// each tile has a row of all channels.
  template <class X>
  static void transform_input(const S &s, const plan_type &p, const X *x,
                              int image, int from, int tiles, int16_t *input) {
    const int blocks = p.channels / W;
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w * W;
    x += image * blocks * plane;
    const ptrdiff_t point = ptrdiff_t(p.chunk) * p.channels;
    for (int t = 0; t < tiles; ++t) {
      const int top = (from + t) / p.tile_columns * 2 - s.pt;
      const int left = (from + t) % p.tile_columns * 2 - s.pl;
      const bool inside =
          top >= 0 && top + 4 <= s.h && left >= 0 && left + 4 <= s.w;
      int16_t *to = input + ptrdiff_t(t) * p.channels;
      const X *at = x + (ptrdiff_t(top) * s.w + left) * W;
      for (int b = 0; b < blocks; ++b, at += plane, to += W)
        if (inside)
          transform_tile(
              [&](int i, int j) { return load(at + (i * s.w + j) * W); }, to,
              point);
        else
          transform_tile(
              [&](int i, int j) {
                return top + i >= 0 && top + i < s.h && left + j >= 0 &&
                               left + j < s.w
                           ? load(at + (i * s.w + j) * W)
                           : words{} + int16_t(s.fill);
              },
              to, point);
    }
  }

  template <class X> static NNC_INLINE words load(const X *x) {
    int16_t values[W];
    NNC_UNROLL for (int i = 0; i < W; ++i) values[i] = x[i];
    words v;
    memcpy(&v, values, sizeof v);
    return v;
  }

  /// Stores B^T d B, where d(i, j) are the numbers of a tile of W channels.
  template <class F>
  static NNC_INLINE void transform_tile(const F &d, int16_t *to,
                                        ptrdiff_t point) {
    words half[4][4];
    NNC_UNROLL for (int j = 0; j < 4; ++j) {
      const words d0 = d(0, j), d1 = d(1, j), d2 = d(2, j), d3 = d(3, j);
      half[0][j] = d0 - d2;
      half[1][j] = d1 + d2;
      half[2][j] = d2 - d1;
      half[3][j] = d1 - d3;
    }
    NNC_UNROLL for (int i = 0; i < 4; ++i) {
      const words *h = half[i];
      const words all[4] = {h[0] - h[2], h[1] + h[2], h[2] - h[1], h[1] - h[3]};
      NNC_UNROLL for (int j = 0; j < 4; ++j)
          memcpy(to + (i * 4 + j) * point, &all[j], sizeof(words));
    }
  }

  /// Makes the sums of all points and tiles for N blocks of output channels.
  template <int N>
  static void multiply(const S &s, const plan_type &p, const int16_t *input,
                       const int16_t *w, int tiles, int32_t *sums) {
    const ptrdiff_t input_point = ptrdiff_t(p.chunk) * p.channels;
    for (int point = 0; point < points; ++point) {
      const int16_t *rows = input + point * input_point;
      const int16_t *weights = w + point * weight_point(s);
      int32_t *to = sums + ptrdiff_t(point) * p.chunk * N * W;
      in_tiles<P, -1>(0, tiles, [&](auto count, int t) {
        products<count, N>(s, rows + ptrdiff_t(t) * p.channels, p.channels,
                           weights, to + ptrdiff_t(t) * N * W);
      });
    }
  }

  template <int C, int N>
  NNC_NOINLINE static void products(const S &s, const int16_t *rows,
                                    ptrdiff_t row, const int16_t *w,
                                    int32_t *to) {
    dot_tile<D, C, N> tile;
    tile.clear();
    for (int step = 0; step < steps(s); ++step) {
      tile.add(rows, row, w, weight_block(s));
      rows += 2;
      w += W * 2;
    }
    NNC_UNROLL for (int c = 0; c < C; ++c)
        NNC_UNROLL for (int n = 0; n < N; ++n)
            byte_lanes<W>::store_bits(to + (c * N + n) * W, tile.sum[c][n]);
  }

  /// Stores the outputs of tiles [from, from + tiles): A^T m A of the sums m of
  /// each tile, through the epilogue.
  template <int N, class Y>
  static void transform_sums(const S &s, const plan_type &p,
                             const int32_t *sums, Y *y, int image, int block,
                             int from, int tiles, const Epi &epilogue) {
    const Epi epi = epilogue;
    const ptrdiff_t point = ptrdiff_t(p.chunk) * N * W;
    const ptrdiff_t plane = ptrdiff_t(s.oh) * s.ow * W;
    for (int t = 0; t < tiles; ++t) {
      const int row = (from + t) / p.tile_columns * 2;
      const int column = (from + t) % p.tile_columns * 2;
      for (int n = 0; n < N; ++n) {
        const int32_t *m = sums + (ptrdiff_t(t) * N + n) * W;
        i32x<W> half[2][4], out[2][2];
        NNC_UNROLL for (int j = 0; j < 4; ++j) {
          i32x<W> v[4];
          NNC_UNROLL for (int i = 0; i < 4; ++i) v[i] =
              byte_lanes<W>::load_bits(m + (i * 4 + j) * point);
          half[0][j] = v[0] + v[1] + v[2];
          half[1][j] = v[1] - v[2] - v[3];
        }
        NNC_UNROLL for (int i = 0; i < 2; ++i) {
          const i32x<W> *h = half[i];
          out[i][0] = shift_right<2>(h[0] + h[1] + h[2]);
          out[i][1] = shift_right<2>(h[1] - h[2] - h[3]);
        }
        const ptrdiff_t at =
            (ptrdiff_t(image) * p.out_blocks + block + n) * plane +
            (ptrdiff_t(row) * s.ow + column) * W;
        NNC_UNROLL for (int i = 0; i < 2; ++i)
            NNC_UNROLL for (int j = 0; j < 2;
                            ++j) if (row + i < s.oh && column + j < s.ow)
                store_sums(out[i][j], y, at + (ptrdiff_t(i) * s.ow + j) * W,
                           (block + n) * W, s.k, epi);
      }
    }
  }
};

template <class S, int P, int B, class Epi>
using conv2d_i32_nchw16c_winograd_avx512 =
    conv2d_integers_winograd_t<16, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_i32_nchw8c_winograd_avx2 =
    conv2d_integers_winograd_t<8, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_i32_nchw4c_winograd_sse4 =
    conv2d_integers_winograd_t<4, S, P, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_WINOGRAD_H
