//===- rows.h - 1 x 1, then depthwise convolution, row by row -------------===//
//
// The layer of shape.h with x and y in NCHW<W>c, the bias as a 1 x k x 1 x 1
// image in the same layout, v in KCRS<W>c<W>k, w in KCRS<W>k.
//
// Scratch holds only those rows of the 1 x 1 convolution's result that one
// output row reads, for B channel blocks, so they stay in a cache near the
// core. x, which is many times smaller than that result, is read again for
// every B blocks. This pays where the whole result would be too large for such
// a cache.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_ROWS_H
#define NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_ROWS_H

#include "runtime/routines/convolution/conv2d/depthwise.h"
#include "runtime/routines/convolution/expanded_conv2d/plan.h"
#include "runtime/routines/convolution/inner_activation.h"
#include "runtime/routines/tiles/floats.h"

namespace nnc {

/// Offset, in pixels, of row h of a plane of which `kept` rows are stored: each
/// new row replaces one that is not needed any more.
template <class S>
constexpr ptrdiff_t input_row(const kept_rows_part<S> &s, int, int h) {
  return ptrdiff_t(h % s.kept) * s.w;
}

template <class V, class S, int COLS, int B, class Epi>
struct expanded_conv2d_nchwc_t {
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(COLS > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s) { return plan(s).units; }

  static void run(const S &s, const T *x, const T *v, const T *bias, const T *w,
                  T *y, unsigned char *scratch, const Epi &epi, int begin,
                  int end) {
    const int runs = plan(s).runs;
    constexpr int left =
        left_over<B, S>([](const S &shape) { return ceil_div(shape.k, W); });
    const job j{x, v, bias, w, y, reinterpret_cast<T *>(scratch), &epi};
    for_each_run(
        begin, end, s.oh, runs, shares_places_of_planes(s.k, s.h * s.w),
        [&](int image, int run, int first, int last) {
          const int block = run * B;
          in_one_tile<B, left>(
              smaller(B, ceil_div(s.k, W) - block), [&](auto blocks, int i) {
                rows<blocks>(s, j, image, block + i, first, last);
              });
        });
  }

private:
  /// The arguments of a call, and the thread's scratch.
  struct job {
    const T *x, *v, *bias, *w;
    T *y;
    T *kept; ///< scratch: [block][kept row][w][W]
    const Epi *epi;
  };

  static constexpr expanded_plan plan(const S &s) {
    return plan_expanded(s, W, B);
  }

  /// Computes output rows [first, last) of N blocks, and before each row those
  /// of the 1 x 1 convolution that it reads.
  template <int N>
  static void rows(const S &s, const job &j, int image, int block, int first,
                   int last) {
    using part = kept_rows_part<S>;
    using depthwise =
        conv2d_nchwc_depthwise_t<V, part, depthwise_columns_of<S>(), Epi>;
    const part p = part::of(s);
    const int plane = image * ceil_div(s.k, W) + block;
    int made = 0;
    for (int row = first; row < last; ++row) {
      const int top = row * s.sh - s.pt;
      made = larger(made, top);
      for (; made < smaller(s.h, top + p.kept); ++made)
        expand<N>(s, j, image, block, made);
      for (int b = 0; b < N; ++b)
        depthwise::rows(p, j.kept + ptrdiff_t(b) * p.kept * s.w * W, j.w, j.y,
                        (ptrdiff_t(plane + b) * s.oh + row) * s.ow * W, *j.epi,
                        plane + b, row, row + 1);
    }
  }

  /// Computes row h of the 1 x 1 convolution for N blocks.
  template <int N>
  static void expand(const S &s, const job &j, int image, int block, int h) {
    constexpr int left =
        left_over<COLS, S>([](const S &shape) { return shape.w; });
    in_tiles<COLS, left>(0, s.w, [&](auto size, int col) {
      tile<size, N>(s, j, image, block, h, col);
    });
  }

  /// Computes C pixels of row h, from column `col` on, of the 1 x 1
  /// convolution.
  template <int C, int N>
  NNC_NOINLINE static void tile(const S &s, const job &j, int image, int block,
                                int h, int col) {
    const int blocks = ceil_div(s.c, W);
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w * W;
    const T *x = j.x + image * blocks * plane + (ptrdiff_t(h) * s.w + col) * W;
    const T *v = j.v + ptrdiff_t(block) * blocks * W * W;
    register_tile<V, 1, C, N> t;
    t.clear();
    alignas(64) T earlier[t.size];
    const bool in_parts = s.c > t.most_terms;
    if (in_parts)
      t.save(earlier);
    for (int c = 0; c < s.c; c += W, x += plane, v += W * W) {
      if (in_parts && c > 0 && c % t.most_terms == 0) {
        t.add_saved(earlier);
        t.save(earlier);
        t.clear();
      }
      const T *const row[1] = {x};
      t.template add<0, C>(row, W, 1, v, ptrdiff_t(blocks) * W * W, W,
                           smaller(W, s.c - c));
    }
    if (in_parts)
      t.add_saved(earlier);
    const inner_epilogue<S, T> inner{&s, {j.bias}};
    T *const z = j.kept;
    const int rows = kept_rows_part<S>::of(s).kept;
    const ptrdiff_t at = (ptrdiff_t(h % rows) * s.w + col) * W;
    NNC_UNROLL for (int b = 0; b < N; ++b) NNC_UNROLL for (int c = 0; c < C;
                                                           ++c)
        store(z + (ptrdiff_t(b) * rows * s.w + c) * W + at,
              inner(widen(t.sum[0][c][b]), position<true>{0, (block + b) * W}));
  }
};

template <class S, int COLS, int B, class Epi>
using expanded_conv2d_f32_nchw16c_avx512 =
    expanded_conv2d_nchwc_t<f32x<16>, S, COLS, B, Epi>;
template <class S, int COLS, int B, class Epi>
using expanded_conv2d_f32_nchw8c_avx2 =
    expanded_conv2d_nchwc_t<f32x<8>, S, COLS, B, Epi>;
template <class S, int COLS, int B, class Epi>
using expanded_conv2d_f32_nchw8c_rvv =
    expanded_conv2d_nchwc_t<f32x<8>, S, COLS, B, Epi>;
template <class S, int COLS, int B, class Epi>
using expanded_conv2d_f32_nchw4c_neon =
    expanded_conv2d_nchwc_t<f32x<4>, S, COLS, B, Epi>;
template <class S, int COLS, int B, class Epi>
using expanded_conv2d_f32_nchw4c_sse4 =
    expanded_conv2d_nchwc_t<f32x<4>, S, COLS, B, Epi>;
template <class S, int COLS, int B, class Epi>
using expanded_conv2d_f16_nchw8c_neonfp16 =
    expanded_conv2d_nchwc_t<f16x<8>, S, COLS, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_EXPANDED_CONV2D_ROWS_H
