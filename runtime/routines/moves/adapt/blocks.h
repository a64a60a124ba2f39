//===- blocks.h - Image layout changes with vectors of W ------------------===//
//
// The layer of portable.h for floats or halves, where one of the two blocks is
// 1 and the other W (transposes of W x W), or where the smaller of the two is W
// (moves of W lanes). A unit is up to 1024 pixels of one output block of
// channels of one image.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MOVES_ADAPT_BLOCKS_H
#define NNC_ROUTINES_MOVES_ADAPT_BLOCKS_H

#include "runtime/epilogue.h"
#include "runtime/routines/units/thread_ranges.h"
#include "runtime/simd/transpose.h"

namespace nnc {

template <int W, class S, class Epi> struct adapt_t {
  static constexpr int unit_pixels = 1024;
  static_assert(unit_pixels % W == 0, "whole vectors of pixels");

  static constexpr int units(const S &s) {
    return s.n * blocks(s, block(s)) * pieces(s);
  }

  template <class T>
  static void run(const S &s, const T *x, T *y, const Epi &, int begin,
                  int end) {
    const int all = blocks(s, block(s));
    for_each_run(begin, end, pieces(s), all, true,
                 [&](int image, int block, int first, int last) {
                   const piece here{image * all + block, first * unit_pixels,
                                    smaller(last * unit_pixels, s.h * s.w)};
                   if (s.block_in == 1)
                     gather(s, x, y, here);
                   else if (s.block_out == 1)
                     scatter(s, x, y, here);
                   else
                     move(s, x, y, here);
                 });
  }

private:
  /// Pixels [from, to) of channel block `block`, counted through all images.
  struct piece {
    int block, from, to;
  };

  /// Channels in a unit's block: a block of y, or W channels if y is plain
  /// NCHW.
  static constexpr int block(const S &s) {
    return s.block_out == 1 ? W : s.block_out;
  }
  static constexpr int blocks(const S &s, int block) {
    return (s.c + block - 1) / block;
  }
  static constexpr int pieces(const S &s) {
    return (s.h * s.w + unit_pixels - 1) / unit_pixels;
  }

  /// Offset in plain NCHW of the planes of a block's channels.
  static ptrdiff_t planes_at(const S &s, int block) {
    return (ptrdiff_t(block / blocks(s, W)) * s.c + block % blocks(s, W) * W) *
           s.h * s.w;
  }
  /// Number of channels in a block: W, or fewer in the last block of an image.
  static int channels_of(const S &s, int block) {
    return smaller(W, s.c - block % blocks(s, W) * W);
  }

  /// Interleaves the planes of W channels into one block. Missing channels are
  /// zero.
  template <class T>
  static void gather(const S &s, const T *x, T *y, const piece &here) {
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    const T *from = x + planes_at(s, here.block);
    T *to = y + here.block * plane * W;
    const int channels = channels_of(s, here.block);
    for (int p = here.from; p < here.to; p += W) {
      const int pixels = smaller(W, here.to - p);
      f32x<W> v[W];
      for (int i = 0; i < W; ++i)
        v[i] = i >= channels ? f32x<W>(0.0f)
               : pixels == W ? load<f32x<W>>(from + i * plane + p)
                             : load<f32x<W>>(from + i * plane + p, pixels);
      transpose(v);
      for (int j = 0; j < pixels; ++j)
        store(to + (ptrdiff_t(p) + j) * W, v[j]);
    }
  }

  /// Copies one block to the planes of its channels.
  template <class T>
  static void scatter(const S &s, const T *x, T *y, const piece &here) {
    const int plane = s.h * s.w;
    const T *from = x + ptrdiff_t(here.block) * plane * W;
    T *to = y + planes_at(s, here.block);
    for (int p = here.from; p < here.to; p += W)
      transpose_tile<W>(from + ptrdiff_t(p) * W, W, smaller(W, here.to - p),
                        channels_of(s, here.block), to + p, plane);
  }

  /// Copies between blocked layouts of which the smaller block is W.
  template <class T>
  static void move(const S &s, const T *x, T *y, const piece &here) {
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w;
    const int n = here.block / blocks(s, s.block_out);
    const int first = here.block % blocks(s, s.block_out) * s.block_out;
    T *to = y + here.block * plane * s.block_out;
    for (int part = 0; part < s.block_out; part += W) {
      const int c = first + part;
      const bool absent = c >= s.c;
      const T *from = x +
                      (ptrdiff_t(n) * blocks(s, s.block_in) + c / s.block_in) *
                          plane * s.block_in +
                      c % s.block_in;
      for (ptrdiff_t p = here.from; p < here.to; ++p)
        store(to + p * s.block_out + part,
              absent ? f32x<W>(0.0f) : load<f32x<W>>(from + p * s.block_in));
    }
  }
};

template <class S, class Epi> using adapt_f32_sse4 = adapt_t<4, S, Epi>;
template <class S, class Epi> using adapt_f32_avx2 = adapt_t<8, S, Epi>;
template <class S, class Epi> using adapt_f32_rvv = adapt_t<8, S, Epi>;
template <class S, class Epi> using adapt_bf16_amxbf16 = adapt_t<16, S, Epi>;
template <class S, class Epi> using adapt_f32_avx512 = adapt_t<16, S, Epi>;
template <class S, class Epi> using adapt_f32_neon = adapt_t<4, S, Epi>;
template <class S, class Epi> using adapt_f16_neonfp16 = adapt_t<8, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MOVES_ADAPT_BLOCKS_H
