//===- blocks.h - Between NCHW and NCHW[x]c with vectors of W floats ------===//
//
// As portable.h defines it, for float, where one of the two blocks is 1 and the
// other W (transposes of W x W), or the smaller of the two is W (moves of W
// lanes). A unit is one output block of channels of one image.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ADAPT_BLOCKS_H
#define NNC_ROUTINES_ADAPT_BLOCKS_H

#include "runtime/epilogue.h"
#include "runtime/simd/transpose.h"

namespace nnc {

template <int W, class S, class Epi> struct adapt_f32_t {
  static constexpr int units(const S &s) {
    return s.n * blocks(s, s.block_out == 1 ? W : s.block_out);
  }

  static void run(const S &s, const float *x, float *y, const Epi &, int begin,
                  int end) {
    for (int unit = begin; unit < end; ++unit) {
      if (s.block_in == 1)
        gather_block(s, x, y, unit);
      else if (s.block_out == 1)
        scatter_block(s, x, y, unit);
      else
        move_block(s, x, y, unit);
    }
  }

private:
  static constexpr int blocks(const S &s, int block) {
    return (s.c + block - 1) / block;
  }
  static constexpr int least(int a, int b) { return a < b ? a : b; }

  /// W planes of channels to one block; channels that are missing are zero.
  static void gather_block(const S &s, const float *x, float *y, int unit) {
    const int plane = s.h * s.w, first = unit % blocks(s, W) * W;
    const float *from =
        x + (std::ptrdiff_t(unit / blocks(s, W)) * s.c + first) * plane;
    float *to = y + std::ptrdiff_t(unit) * plane * W;
    const int channels = least(W, s.c - first);
    for (int p = 0; p < plane; p += W) {
      const int pixels = least(W, plane - p);
      f32x<W> v[W];
      for (int i = 0; i < W; ++i)
        v[i] =
            i >= channels ? f32x<W>(0.0f)
            : pixels == W
                ? f32x<W>::load(from + std::ptrdiff_t(i) * plane + p)
                : f32x<W>::load(from + std::ptrdiff_t(i) * plane + p, pixels);
      transpose(v);
      for (int j = 0; j < pixels; ++j)
        v[j].store(to + (std::ptrdiff_t(p) + j) * W);
    }
  }

  /// One block to the planes of its channels.
  static void scatter_block(const S &s, const float *x, float *y, int unit) {
    const int plane = s.h * s.w, first = unit % blocks(s, W) * W;
    const float *from = x + std::ptrdiff_t(unit) * plane * W;
    float *to = y + (std::ptrdiff_t(unit / blocks(s, W)) * s.c + first) * plane;
    const int channels = least(W, s.c - first);
    for (int p = 0; p < plane; p += W)
      transpose_tile<W>(from + std::ptrdiff_t(p) * W, W, least(W, plane - p),
                        channels, to + p, plane);
  }

  /// Between blocks of which the smaller is W.
  static void move_block(const S &s, const float *x, float *y, int unit) {
    const std::ptrdiff_t plane = std::ptrdiff_t(s.h) * s.w;
    const int n = unit / blocks(s, s.block_out);
    const int first = unit % blocks(s, s.block_out) * s.block_out;
    float *to = y + unit * plane * s.block_out;
    for (int part = 0; part < s.block_out; part += W) {
      const int c = first + part;
      const bool absent = c >= s.c;
      const float *from =
          x +
          (std::ptrdiff_t(n) * blocks(s, s.block_in) + c / s.block_in) * plane *
              s.block_in +
          c % s.block_in;
      for (std::ptrdiff_t p = 0; p < plane; ++p)
        (absent ? f32x<W>(0.0f) : f32x<W>::load(from + p * s.block_in))
            .store(to + p * s.block_out + part);
    }
  }
};

template <class S, class Epi> using adapt_f32_sse4 = adapt_f32_t<4, S, Epi>;
template <class S, class Epi> using adapt_f32_avx2 = adapt_f32_t<8, S, Epi>;
template <class S, class Epi> using adapt_f32_avx512 = adapt_f32_t<16, S, Epi>;
template <class S, class Epi> using adapt_f32_neon = adapt_f32_t<4, S, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_ADAPT_BLOCKS_H
