//===- gathered_tiles.h - 2-D convolution of few channels on tiles --------===//
//
// y[k] = epi(sum over c of x[c] * w[k, c]) on tile registers, for taps of less
// than 64 bytes of channels: x in NCHW16c or, with few channels, in NCHW, w in
// KRSC16k4c, or in KRSC16k2c for floats of 16 bits, y in NCHW16c.
//
// The windows of the outputs of a strip are gathered as gathered_tiles_plan.h
// says, and all output channels read them. They are the rows of a matrix, and
// the weights of 16 channels are a panel of another one, as in matmul/tiles.h.
//
// A unit is two blocks of output channels of a strip. Groups are supported
// where both c / groups and k / groups are multiples of 16.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_GATHERED_TILES_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_GATHERED_TILES_H

#include "runtime/routines/convolution/conv2d/gathered_tiles_plan.h"
#include "runtime/routines/convolution/conv2d/tiles_results.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/matrix.h"
#include "runtime/simd/dots.h"

namespace nnc {

/// The routine for factors of BYTES bytes, with windows of about KB * 1024
/// bytes. With PLAIN, x is in NCHW.
template <int BYTES, bool PLAIN, class S, int KB, class Epi>
struct conv2d_gathered_tiles_t {
  static constexpr bool uses_tiles = true;
  static constexpr int W = tile_columns;

  static constexpr int units(const S &s) { return plan(s).units(); }

  template <class X, class T, class Y>
  static void run(const S &s, const X *x, const T *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    using P = point_of<X>;
    static_assert(sizeof(P) == BYTES && sizeof(T) == BYTES, "sizes of factors");
    const gathered_tiles_plan p = plan(s);
    const int runs = ceil_div(p.out_blocks, 2);
    const auto *weights = reinterpret_cast<const unsigned char *>(w);
    const ptrdiff_t plane = ptrdiff_t(s.oh) * s.ow * W;
    unsigned char *copy = scratch + p.gathered, *tails = copy + p.copied;
    tile_sums<P> sums[2];
    while (begin < end) {
      const int strip = begin / runs, first = begin % runs;
      const int last = smaller(runs, first + end - begin);
      const int image = strip / (p.down * p.across);
      const int place = strip % (p.down * p.across);
      const int row = place / p.across * p.rows;
      const int column = place % p.across * p.columns;
      const int rows = smaller(p.rows, s.oh - row);
      const int columns = smaller(p.columns, s.ow - column);
      const int group = image % s.groups;
      copy_input(s, p, x + image * image_size(s, p), row, column, rows, columns,
                 reinterpret_cast<P *>(copy));
      gather(s, p, copy, rows, columns, scratch);
      tile_results<P, Y, Epi> pending(y, epi, columns, s.ow, plane, s.k);
      for (int run = first; run < last; ++run) {
        const int local = run * 2, block = group * p.out_blocks + local;
        tile_run at{};
        at.stride = ptrdiff_t(p.steps) * tile_row_bytes;
        at.step = tile_row_bytes;
        at.columns = smaller(2, p.out_blocks - local);
        at.weights = weights + block * p.panel;
        at.panel = p.panel;
        // Zero times what follows a panel of floats is not zero if that is
        // infinite or no number.
        for (int c = 0; c < at.columns; ++c)
          at.set_tail(c, p.steps,
                      BYTES == 2 || block + c == s.groups * p.out_blocks - 1,
                      tails);
        const ptrdiff_t out =
            (ptrdiff_t(image / s.groups) * s.groups * p.out_blocks + block) *
                plane +
            (ptrdiff_t(row) * s.ow + column) * W;
        const int points = rows * columns;
        for (int i = 0; i < points; i += 2 * tile_rows) {
          at.points[0] = scratch + i * at.stride;
          at.points[1] = at.points[0] + tile_rows * at.stride;
          at.rows = points - i > tile_rows ? 2 : 1;
          in_block(at.rows, at.columns, [&](auto R, auto C) {
            products<R, C, T>(p, at, sums[pending.turn], pending);
          });
          pending.begin(sums[pending.turn], at.columns, i,
                        smaller(points - i, 2 * tile_rows), columns, out,
                        block * W);
        }
      }
      pending.store(2 * tile_rows);
      begin += last - first;
    }
  }

private:
  /// The elements that are multiplied: floats are rounded when they are copied.
  template <class X>
  using point_of = conditional_t<is_same<X, float>::value, bf16, X>;

  static constexpr gathered_tiles_plan plan(const S &s) {
    return plan_gathered_tiles(s, BYTES, KB);
  }
  /// Returns p.steps, which is a constant if the shape is constant.
  static constexpr int steps_of(const gathered_tiles_plan &p) {
    if constexpr (is_constant<S>)
      return plan(S{}).steps;
    else
      return p.steps;
  }
  /// Elements of a group of an image.
  static constexpr ptrdiff_t image_size(const S &s,
                                        const gathered_tiles_plan &p) {
    return ptrdiff_t(PLAIN ? s.c / s.groups : p.blocks * 16) * s.h * s.w;
  }

  /// Computes the sums of a block, and stores results of the block before.
  template <int R, int C, class T, class X, class Y>
  NNC_NOINLINE static void products(const gathered_tiles_plan &p,
                                    const tile_run &at, tile_sums<X> &sums,
                                    tile_results<X, Y, Epi> &before) {
    const int steps = steps_of(p);
    add_run<R, C, T>(at, steps, ceil_div(before.runs(), steps), sums, before);
    before.store(2 * tile_rows);
  }

  /// Copies the input of the strip of rows x columns outputs whose first output
  /// is (row, column).
  template <class X, class P>
  NNC_NOINLINE static void copy_input(const S &s, const gathered_tiles_plan &p,
                                      const X *x, int row, int column, int rows,
                                      int columns, P *copy) {
    const int pixel = p.pixel / int(sizeof(P));
    const int step = s.kw == 1 ? s.sw : 1;
    const int from = column * s.sw - s.pl;
    const int copy_rows = (rows - 1) * p.row_step + (s.kh - 1) * s.dh + 1;
    const int all = (columns - 1) * p.column_step + (s.kw - 1) * s.dw + 1;
    for (int r = 0; r < copy_rows; ++r) {
      P *to = copy + ptrdiff_t(r) * p.copy_columns * pixel;
      const int at = row * s.sh - s.pt + r * (s.kh == 1 ? s.sh : 1);
      int first = 0, last = 0;
      if (at >= 0 && at < s.h) {
        first = smaller(all, from < 0 ? ceil_div(-from, step) : 0);
        last = from >= s.w ? 0 : ceil_div(s.w - from, step);
        last = larger(first, smaller(last, all));
      }
      put_fill(s, pixel, to, 0, first);
      put_fill(s, pixel, to, last, all);
      if (first == last)
        continue;
      to += ptrdiff_t(first) * pixel;
      const int start = from + first * step;
      if constexpr (PLAIN)
        copy_planes(s, pixel, x + ptrdiff_t(at) * s.w + start, step,
                    last - first, to);
      else
        copy_blocks(s, pixel, x + (ptrdiff_t(at) * s.w + start) * 16, step,
                    last - first, to);
    }
  }

  template <class X>
  static void put_fill(const S &s, int pixel, X *to, int first, int end) {
    for (int i = first; i < end; ++i)
      for (int c = 0; c < pixel; ++c)
        to[i * pixel + c] =
            c < s.c / s.groups ? static_cast<X>(s.fill) : static_cast<X>(0);
  }

  /// Copies `count` pixels of planes of channels.
  template <class X, class P>
  static void copy_planes(const S &s, int pixel, const X *x, int step,
                          int count, P *to) {
    const int channels = s.c / s.groups;
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    int done = 0;
    if constexpr (sizeof(X) == 1)
      if (step == 1 && (channels == 3 || channels == 4))
        done = int(interleave_bytes(to, x, x + plane, x + 2 * plane,
                                    channels == 4 ? x + 3 * plane : nullptr,
                                    count));
    if constexpr (is_same<X, float>::value)
      for (; step == 1 && done + W <= count; done += W)
        round_pixels(pixel, channels, x + done, plane, to + done * pixel);
    for (int i = done; i < count; ++i)
      for (int c = 0; c < pixel; ++c)
        to[i * pixel + c] =
            c < channels ? P(x[c * plane + ptrdiff_t(i) * step]) : P(0);
  }

  /// Rounds W pixels of planes of channels.
  static void round_pixels(int pixel, int channels, const float *x,
                           ptrdiff_t plane, bf16 *to) {
    for (int c = 0; c < pixel; ++c) {
      bf16 part[W];
      if (c < channels)
        round_factors<f32x<W>>(part, x + c * plane);
      for (int i = 0; i < W; ++i)
        to[i * pixel + c] = c < channels ? part[i] : bf16(0.0f);
    }
  }

  /// Copies `count` pixels of blocks of 16 channels.
  template <class X>
  static void copy_blocks(const S &s, int pixel, const X *x, int step,
                          int count, X *to) {
    const int channels = s.c / s.groups;
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w * 16;
    NNC_KEEP_LOOP for (int i = 0; i < count; ++i) {
      int c = 0;
      for (; c + 16 <= channels; c += 16)
        memcpy(static_cast<void *>(to + c), x + c / 16 * plane, 16 * sizeof(X));
      for (; c < pixel; ++c)
        to[c] = c < channels ? x[c / 16 * plane + c % 16] : X(0);
      to += pixel;
      x += ptrdiff_t(step) * 16;
    }
  }

  /// Gathers the windows of all outputs of a strip.
  NNC_NOINLINE static void gather(const S &s, const gathered_tiles_plan &p,
                                  const unsigned char *copy, int rows,
                                  int columns, unsigned char *to) {
    const int taps = s.kh * s.kw * p.pixel, window = p.steps * tile_row_bytes;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        const unsigned char *from =
            copy +
            (ptrdiff_t(i) * p.row_step * p.copy_columns + j * p.column_step) *
                p.pixel;
        unsigned char *tap = to;
        for (int r = 0; r < s.kh; ++r) {
          if (s.dw == 1)
            memcpy(tap, from, size_t(s.kw * p.pixel));
          else
            for (int t = 0; t < s.kw; ++t)
              memcpy(tap + t * p.pixel, from + t * s.dw * p.pixel,
                     size_t(p.pixel));
          tap += s.kw * p.pixel;
          from += ptrdiff_t(s.dh) * p.copy_columns * p.pixel;
        }
        memset(tap, 0, size_t(window - taps));
        to += window;
      }
  }
};

template <class S, int KB, class Epi>
using conv2d_bf16_nchw16c_few_amxbf16 =
    conv2d_gathered_tiles_t<2, false, S, KB, Epi>;
template <class S, int KB, class Epi>
using conv2d_bf16_nchw16c_first_amxbf16 =
    conv2d_gathered_tiles_t<2, true, S, KB, Epi>;
template <class S, int KB, class Epi>
using conv2d_f32_bf16_nchw16c_first_amxbf16 =
    conv2d_gathered_tiles_t<2, true, S, KB, Epi>;
template <class S, int KB, class Epi>
using conv2d_i32_nchw16c_few_amxint8 =
    conv2d_gathered_tiles_t<1, false, S, KB, Epi>;
template <class S, int KB, class Epi>
using conv2d_i32_nchw16c_first_amxint8 =
    conv2d_gathered_tiles_t<1, true, S, KB, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_GATHERED_TILES_H
