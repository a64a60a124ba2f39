//===- folded.h - Winograd's method for a plain image and a stride of 2 ---===//
//
// Convolution of a plain image with stride 2, as networks begin: x in plain
// NCHW with few channels, y in NCHW<W>c. The stride is folded into channels:
// each input channel becomes four, one for the even or odd columns of the even
// or odd rows, and the convolution becomes one of stride 1 with half as many
// taps along each axis:
//
//   y[k][i][j] = sum of u[k][4 c + 2 p + q][r][s]
//                       * x[c][2 (i + r) + p - pt][2 (j + s) + q - pl]
//
// over c, r, s and p, q in {0, 1}, where u[k][4 c + 2 p + q][r][s] is w[k][c][2
// r + p][2 s + q], or 0 behind the last tap. Winograd's method computes this
// convolution: 7 x 7 taps of 3 channels are 147 multiply-adds for each pixel
// directly, 48 in tiles of 3 x 3 pixels and 31 in tiles of 5 x 5. Only the
// input patch of one tile at a time is folded in memory.
//
// The compiler folds and transforms the weights and stores them as KRSC<W>k.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_FOLDED_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_FOLDED_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/winograd.h"

namespace nnc {

/// The method for transformed.h with R x R taps after folding.
template <class V, int M, int R, class S, int P, int B>
struct folded_winograd_of_taps
    : winograd_of_taps<V, M, R, R, S, P, B, winograd_summed, usual_strip> {
  using unfolded =
      winograd_of_taps<V, M, R, R, S, P, B, winograd_summed, usual_strip>;
  using E = element_of<V>;
  static constexpr int W = lanes<V>;
  static constexpr int height = unfolded::height, width = unfolded::width;

  static constexpr int channels(const S &s) { return folded_channels(s); }
  static constexpr transformed_plan plan(const S &s) {
    return plan_folded_winograd(s, W, M, P, B, sizeof(E));
  }

  static point_factors<E> factors(const S &s, const transformed_plan &p,
                                  const E *, const E *v, int point, int) {
    return {v + point * p.input_point, ptrdiff_t(ceil_div(channels(s), W)) * W,
            P * W};
  }

  static void input(const S &s, const transformed_plan &p, const E *x, int t,
                    int count, int c, E *v) {
    input_tile_by_tile<folded_winograd_of_taps>(s, p, x, t, count, c, v);
  }

  /// Transforms block c of folded channels of tile t: folds the tile's input
  /// into a patch, and stores its points at v and every p.input_point on.
  static void tile_input(const S &s, const transformed_plan &p, const E *all,
                         int t, int c, E *v) {
    const int image = t / (p.rows * p.cols);
    const int top = t / p.cols % p.rows * unfolded::tile_rows * 2 - s.pt;
    const int left = t % p.cols * unfolded::tile_cols * 2 - s.pl;
    const E *const x = all + ptrdiff_t(image) * s.c * s.h * s.w;
    alignas(64) E patch[height * width * W]; // height x width vectors
    // Lanes 2 i and 2 i + 1 are the even and the odd columns of the even or the
    // odd rows of a channel.
    const int first = c * (W / 2), rows = smaller(W / 2, 2 * s.c - first);
    if (rows < W / 2)
      for (int i = 0; i < height * width; ++i) {
        NNC_FORGET_LOADS; // Otherwise g++ calls memset, which may use wider
                          // vectors, for which some chips clock down.
        V(E(0.0f)).store(patch + i * W);
      }
    const bool inside = top >= 0 && left >= 0 && top + 2 * height <= s.h &&
                        left + 2 * width <= s.w;
    for (int i = 0; i < rows; ++i) {
      const E *const plane = x + ptrdiff_t((first + i) / 2) * s.h * s.w;
      const int odd = (first + i) % 2;
      E *const to = patch + 2 * i;
      if (inside)
        copy_rows(plane + ptrdiff_t(top + odd) * s.w + left, 2 * s.w, to);
      else
        copy_inside(s, plane, top + odd, left, to);
    }
    unfolded::transform_patch(patch, width * W, v, p.input_point);
  }

private:
  /// Copies a patch whose rows are `row` elements apart in an image: pairs of
  /// neighbouring pixels go to two lanes of a vector each.
  static NNC_INLINE void copy_rows(const E *from, int row, E *to) {
    NNC_KEEP_LOOP for (int r = 0; r < height; ++r, from += row, to += width * W)
        NNC_UNROLL for (int j = 0; j < width; ++j)
            memcpy(to + j * W, from + 2 * j, 2 * sizeof(E));
  }
  /// copy_rows() for a patch that may reach out of the image: copies every
  /// second row from (top, left) on, with zeros outside.
  static void copy_inside(const S &s, const E *plane, int top, int left,
                          E *to) {
    for (int r = 0; r < height; ++r) {
      const int row = top + 2 * r;
      for (int j = 0; j < width; ++j, to += W) {
        const int column = left + 2 * j;
        E pair[2] = {E(0.0f), E(0.0f)};
        if (row >= 0 && row < s.h)
          for (int i = 0; i < 2; ++i)
            if (column + i >= 0 && column + i < s.w)
              pair[i] = plane[ptrdiff_t(row) * s.w + column + i];
        memcpy(to, pair, sizeof pair);
      }
    }
  }
};

/// METHOD of winograd_routine for folded convolutions.
template <class V, int M, class S, int P, int B, class Epi>
struct folded_winograd {
  static constexpr transformed_plan plan(const S &s) {
    return plan_folded_winograd(s, lanes<V>, M, P, B, sizeof(element_of<V>));
  }

  template <class F> static void run_as(const S &s, const F &run) {
    if constexpr (is_member_pointer<decltype(&S::kh)>)
      find_taps<2>(s, run);
    else
      run(of_taps<folded_taps(S::kh)>());
  }

private:
  template <int R>
  using of_taps = transformed_product<folded_winograd_of_taps<V, M, R, S, P, B>,
                                      S, P, B, Epi>;

  /// Calls `run` for a run-time shape that has at least R taps along an axis
  /// after folding.
  template <int R, class F> static void find_taps(const S &s, const F &run) {
    if constexpr (M + R - 1 <= winograd_matrices::most_points) {
      if (folded_taps(s.kh) > R)
        find_taps<R + 2>(s, run);
      else
        run(of_taps<R>());
    }
  }
};

template <class V, int M, class S, int P, int B, class Epi>
using conv2d_folded_winograd_t =
    winograd_routine<folded_winograd<V, M, S, P, B, Epi>, V, S, Epi>;

template <class S, int P, int B, class Epi>
using conv2d_f32_nchw16c_folded_winograd3_avx512 =
    conv2d_folded_winograd_t<f32x<16>, 3, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw16c_folded_winograd5_avx512 =
    conv2d_folded_winograd_t<f32x<16>, 5, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_folded_winograd3_avx2 =
    conv2d_folded_winograd_t<f32x<8>, 3, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_folded_winograd3_rvv =
    conv2d_folded_winograd_t<f32x<8>, 3, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_folded_winograd5_avx2 =
    conv2d_folded_winograd_t<f32x<8>, 5, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw8c_folded_winograd5_rvv =
    conv2d_folded_winograd_t<f32x<8>, 5, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_folded_winograd3_neon =
    conv2d_folded_winograd_t<f32x<4>, 3, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_folded_winograd5_neon =
    conv2d_folded_winograd_t<f32x<4>, 5, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_folded_winograd3_sse4 =
    conv2d_folded_winograd_t<f32x<4>, 3, S, P, B, Epi>;
template <class S, int P, int B, class Epi>
using conv2d_f32_nchw4c_folded_winograd5_sse4 =
    conv2d_folded_winograd_t<f32x<4>, 5, S, P, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_FOLDED_H
