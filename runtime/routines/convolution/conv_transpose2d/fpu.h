//===- fpu.h - Transposed convolution in tiles of single floats -----------===//
//
// The layer of portable.h of one group for machines without vectors. Weights of
// channels of y in eights are w[k / 8][kh][kw][c][8]. A tile has two pixels of
// a row, or one near its ends, by eight channels; its pixels are sw apart, so
// that the same taps reach all of them. A unit is a row of the output.
//
// A sum adds its products one after the other, so the error is that of a plain
// sum of its products.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_FPU_H
#define NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_FPU_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/microcontrollers/fpu_tile.h"

namespace nnc {

/// The taps t along an axis that contribute to a position of the output: those
/// for which position - t * dilation is a multiple of the stride and the
/// quotient lies inside x. They are `count` taps from `first` on, `step` apart.
/// The first one reads x at `from`, and each further one `back` elements before
/// the previous one.
struct reaching_taps {
  int first = 0, count = 0, step = 1, from = 0, back = 0;
  constexpr reaching_taps(int place, int taps, int dilation, int stride,
                          int size) {
    for (int t = 0; t < taps; ++t) {
      const int at = place - t * dilation;
      if (at < 0 || at % stride != 0 || at / stride >= size)
        continue;
      if (count == 0) {
        first = t;
        from = at / stride;
      } else if (count == 1) {
        step = t - first;
        back = from - at / stride;
      }
      ++count;
    }
  }
};

template <class S, int INLINE, class Epi> struct conv_transpose2d_f32_nchw_fpu {
  static constexpr int units(const S &s) { return s.n * s.oh; }

  template <class Y>
  static void run(const S &s, const float *x, const float *w, Y *y,
                  const Epi &epi, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int n = unit / s.oh, oy = unit % s.oh;
      const reaching_taps rows(oy + s.pt, s.kh, s.dh, s.sh, s.h);
      for (int phase = 0; phase < s.sw; ++phase)
        for (int ox = phase; ox < s.ow;) {
          const int far = ox + s.sw;
          const reaching_taps columns(ox + s.pl, s.kw, s.dw, s.sw, s.w),
              last(far + s.pl, s.kw, s.dw, s.sw, s.w);
          const bool fits = far < s.ow && columns.first == last.first &&
                            columns.count == last.count;
          const int points = fits ? 2 : 1;
          if (fits || !INLINE)
            run_tile<2>(s, rows, columns, x, w, y, epi, n, oy, ox, points);
          else
            run_tile<1>(s, rows, columns, x, w, y, epi, n, oy, ox, points);
          ox += points * s.sw;
        }
    }
  }

private:
  template <int P, class Y>
  static NNC_INLINE void run_tile(const S &s, const reaching_taps &rows,
                                  const reaching_taps &columns, const float *x,
                                  const float *w, Y *y, const Epi &epi, int n,
                                  int oy, int ox, int points) {
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w,
                    pixels = ptrdiff_t(s.oh) * s.ow;
    x += n * s.c * plane + ptrdiff_t(rows.from) * s.w + columns.from;
    w += (ptrdiff_t(rows.first) * s.kw + columns.first) * s.c * 8;
    float_steps steps{};
    steps.outer = columns.count > 0 ? rows.count : 0;
    steps.middle = columns.count;
    steps.inner = s.c;
    steps.x_outer = -ptrdiff_t(rows.back) * s.w;
    steps.x_middle = -columns.back;
    steps.x_inner = plane;
    steps.w_outer = ptrdiff_t(rows.step) * s.kw * s.c * 8;
    steps.w_middle = ptrdiff_t(columns.step) * s.c * 8;
    steps.point = 1;
    float_results<false> to{};
    to.point = s.sw;
    to.channel = pixels;
    to.at = n * s.k * pixels + ptrdiff_t(oy) * s.ow + ox;
    for (int k = 0; k < s.k; k += 8, to.at += 8 * pixels) {
      to.first = k;
      to.count = smaller(s.k - k, 8);
      compute_tile<INLINE, P>(
          tile_form<float, eight_floats, eight_floats, true>(), x, w, steps, to,
          y, epi, points);
      w += ptrdiff_t(s.kh) * s.kw * s.c * 8;
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV_TRANSPOSE2D_FPU_H
