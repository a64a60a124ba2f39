//===- winograd.h - Convolution by Winograd's method ----------------------===//
//
// y = A^T (U * B^T x B) A for each tile of M x M output pixels, x and y in
// NCHW<W>c. The compiler transforms the weights, U = G w G^T, and stores them
// as KRSC<W>k with M + R - 1 points in the place of R taps. Along an axis with
// one tap nothing is transformed, and a tile has one pixel. Stride 1, or 2 with
// 2 M + R - 2 points; no dilation, one group, any padding. See
// winograd_matrices.h for the matrices.
//
// Rounding errors are relative to a tile's largest values: for M = 2, 4, 6
// about 1, 3, 10 times those of a sum of products. For f16 there is M = 2 only.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_H

#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/convolution/conv2d/winograd_matrices.h"
#include "runtime/routines/convolution/conv2d/winograd_plan.h"
#include "runtime/routines/transforms/transformed.h"
#include "runtime/routines/units/caches.h"

namespace nnc {

/// The transforms of F(M, R) along one axis, on vectors.
template <int M, int R> struct winograd_transform {
  static constexpr int outputs = M, points = M + R - 1;
  static_assert(points > 2 && points <= winograd_matrices::most_points,
                "there are 0 and infinity, and others between");
  static constexpr winograd_matrices matrices = make_winograd(M, R);
  static constexpr int pairs = matrices.pairs;

  /// v = B^T x
  template <class V>
  static NNC_INLINE void input(const V (&x)[points], V (&v)[points]) {
    if constexpr (matrices.odd) {
      V d[points - 1];
      NNC_UNROLL for (int i = 0; i < points - 1; ++i) d[i] =
          add_times(x[i + 1], -matrices.s, x[i]);
      v[points - 2] = even(matrices.all, pairs, x, 1);
      of_pairs(d, v);
    } else {
      of_pairs(x, v);
    }
  }

  /// y = A^T v
  template <class V>
  static NNC_INLINE void output(const V (&v)[points], V (&y)[M]) {
    NNC_UNROLL for (int i = 0; i < M; ++i) {
      V sum = i == 0 ? v[0] : i == M - 1 ? v[points - 1] : V(0.0f);
      NNC_UNROLL for (int k = 0; k < pairs; ++k) {
        const double power = matrices.powers[i][k];
        const V both =
            i % 2 ? v[1 + 2 * k] - v[2 + 2 * k] : v[1 + 2 * k] + v[2 + 2 * k];
        if (k == 0 && i > 0 && i < M - 1)
          sum = power == 1 ? both : both * V(float(power));
        else
          sum = add_times(sum, power, both);
      }
      if constexpr (matrices.odd)
        sum = add_times(sum, matrices.powers[i][pairs], v[points - 2]);
      y[i] = sum;
    }
  }

private:
  /// Computes the values at points 0, infinity and all pairs.
  template <int N, class V>
  static NNC_INLINE void of_pairs(const V (&x)[N], V (&v)[points]) {
    v[0] = even(matrices.all, pairs, x, 0);
    v[points - 1] = even(matrices.all, pairs, x, 1);
    NNC_UNROLL for (int k = 0; k < pairs; ++k) {
      const V a = even(matrices.others[k], pairs - 1, x, 2);
      const V b = even(matrices.others[k], pairs - 1, x, 1);
      v[1 + 2 * k] = add_times(a, matrices.q[k], b);
      v[2 + 2 * k] = add_times(a, -matrices.q[k], b);
    }
  }
  /// Sum of every second x from x[first] on, times the coefficients of a
  /// polynomial of this degree, whose last coefficient is 1.
  template <int N, class V>
  static NNC_INLINE V even(const double *polynomial, int degree,
                           const V (&x)[N], int first) {
    V sum = x[first + 2 * degree];
    NNC_UNROLL for (int i = 0; i < degree; ++i) sum =
        add_times(sum, polynomial[i], x[first + 2 * i]);
    return sum;
  }
  template <class V> static NNC_INLINE V add_times(V a, double factor, V b) {
    return factor == 1    ? a + b
           : factor == -1 ? a - b
                          : fma(V(float(factor)), b, a);
  }
};

/// The transforms along an axis with one tap, where nothing is transformed.
template <int M> struct winograd_transform<M, 1> {
  static constexpr int outputs = 1, points = 1;
  template <class V> static NNC_INLINE void input(const V (&x)[1], V (&v)[1]) {
    v[0] = x[0];
  }
  template <class V> static NNC_INLINE void output(const V (&v)[1], V (&y)[1]) {
    y[0] = v[0];
  }
};

/// The transforms of the odd taps along an axis with stride 2 if there is one
/// such tap: each output has a product of its own.
template <int M> struct winograd_of_each {
  static constexpr int points = M;
  template <class V> static NNC_INLINE void input(const V (&x)[M], V (&v)[M]) {
    NNC_UNROLL for (int i = 0; i < M; ++i) v[i] = x[i];
  }
  template <class V> static NNC_INLINE void output(const V (&v)[M], V (&y)[M]) {
    NNC_UNROLL for (int i = 0; i < M; ++i) y[i] = v[i];
  }
};

/// The transforms along an axis with stride 2. The points of even taps and
/// inputs come before those of odd ones.
template <int M, int R> struct strided_winograd_transform {
  using even = winograd_transform<M, (R + 1) / 2>;
  using odd = conditional_t<R / 2 == 1, winograd_of_each<M>,
                            winograd_transform<M, R / 2>>;
  static constexpr int outputs = M, points = even::points + odd::points;

  template <class V>
  static NNC_INLINE void input(const V (&x)[points], V (&v)[points]) {
    V x0[even::points], x1[odd::points], v0[even::points], v1[odd::points];
    NNC_UNROLL for (int i = 0; i < even::points; ++i) x0[i] = x[2 * i];
    NNC_UNROLL for (int i = 0; i < odd::points; ++i) x1[i] = x[2 * i + 1];
    even::input(x0, v0);
    odd::input(x1, v1);
    NNC_UNROLL for (int i = 0; i < points; ++i) v[i] =
        i < even::points ? v0[i] : v1[i - even::points];
  }

  template <class V>
  static NNC_INLINE void output(const V (&v)[points], V (&y)[M]) {
    V v0[even::points], v1[odd::points], y1[M];
    NNC_UNROLL for (int i = 0; i < even::points; ++i) v0[i] = v[i];
    NNC_UNROLL for (int i = 0; i < odd::points; ++i) v1[i] =
        v[even::points + i];
    even::output(v0, y);
    odd::output(v1, y1);
    NNC_UNROLL for (int i = 0; i < M; ++i) y[i] = y[i] + y1[i];
  }
};

/// The method for transformed.h, for KH x KW taps and stride STRIDE, with SUM
/// channels summed in one go and strips of STRIP KiB. Transforms are computed
/// with floats.
template <class V, int M, int KH, int KW, class S, int P, int B, int SUM,
          int STRIP, int STRIDE = 1>
struct winograd_of_taps {
  static constexpr int W = lanes<V>;
  using vector = V;
  using E = element_of<V>;
  using F = f32x<W>;
  using source = const E *;
  template <int R>
  using transform = conditional_t<STRIDE == 1, winograd_transform<M, R>,
                                  strided_winograd_transform<M, R>>;
  using vertical = transform<KH>;
  using horizontal = transform<KW>;
  static constexpr int height = vertical::points, width = horizontal::points;
  static constexpr int points = height * width;
  static constexpr int tile_rows = vertical::outputs;
  static constexpr int tile_cols = horizontal::outputs;
  /// Input rows and columns from one tile to the next.
  static constexpr int row_step = tile_rows * STRIDE;
  static constexpr int col_step = tile_cols * STRIDE;
  /// Channels summed in one go; few, because the output transform magnifies the
  /// rounding errors of the sums.
  static constexpr int summed_channels = SUM;

  static constexpr int channels(const S &s) { return s.c; }
  static constexpr int filters(const S &s) { return s.k; }
  static constexpr transformed_plan plan(const S &s) {
    return plan_winograd(s, W, M, P, B, sizeof(E), STRIP);
  }

  static point_factors<E> factors(const S &s, const transformed_plan &p,
                                  const E *, const E *v, int point, int) {
    return {v + point * p.input_point, ptrdiff_t(ceil_div(s.c, W)) * W, P * W};
  }
  static constexpr int partial(int point) { return point; }
  static constexpr bool has_output = true;

  static void input(const S &s, const transformed_plan &p, const E *x, int t,
                    int count, int c, E *v) {
    input_tile_by_tile<winograd_of_taps>(s, p, x, t, count, c, v);
  }

  /// Transforms block c of tile t, and stores its points at v and every
  /// p.input_point on.
  static void tile_input(const S &s, const transformed_plan &p, const E *all,
                         int t, int c, E *v) {
    const int image = t / (p.rows * p.cols);
    const int top = t / p.cols % p.rows * row_step - s.pt;
    const int left = t % p.cols * col_step - s.pl;
    const E *x =
        all + (ptrdiff_t(image) * ceil_div(s.c, W) + c) * s.h * s.w * W;
    if (is_far(s))
      fetch_columns(s, x, top, left + width + (tiles_ahead - 1) * col_step);
    if (top >= 0 && left >= 0 && top + height <= s.h && left + width <= s.w)
      return transform_patch(x + (ptrdiff_t(top) * s.w + left) * W,
                             ptrdiff_t(s.w) * W, v, p.input_point);
    alignas(64) E copy[height][width][W];
    for (int r = 0; r < height; ++r)
      for (int i = 0; i < width; ++i) {
        const int row = top + r, col = left + i;
        const bool inside = row >= 0 && row < s.h && col >= 0 && col < s.w;
        (inside ? V::load(x + (ptrdiff_t(row) * s.w + col) * W) : V(E(0.0f)))
            .store(copy[r][i]);
      }
    transform_patch(copy[0][0], width * W, v, p.input_point);
  }

  /// Distance, in tiles, to the input patch that is prefetched while a patch is
  /// transformed, if the input is_far(): too large for the second-level cache.
  static constexpr int tiles_ahead = 2;
  static constexpr bool is_far(const S &s) {
    return ptrdiff_t(sizeof(E)) * s.c * s.h * s.w > level2_map;
  }
  /// Prefetches the columns from `left` on that the patch at row `top` has
  /// beyond those of the patch before it.
  static NNC_INLINE void fetch_columns(const S &s, const E *x, int top,
                                       int left) {
    for (int r = 0; r < height; ++r)
      for (int i = 0; i < col_step; i += vectors_in_line<E, W>)
        NNC_PREFETCH(x + ((ptrdiff_t(top) + r) * s.w + left + i) * W);
  }

  /// Transforms a patch of height x width vectors, whose rows are `row`
  /// elements apart, and stores its points at v and every `point` elements on.
  NNC_NOINLINE static void transform_patch(const E *x, ptrdiff_t row, E *v,
                                           ptrdiff_t point) {
    alignas(64) float half[height][width][W];
    NNC_KEEP_LOOP for (int c = 0; c < width; ++c) {
      F in[height], out[height];
      NNC_UNROLL for (int r = 0; r < height; ++r) in[r] =
          widen(V::load(x + r * row + c * W));
      vertical::input(in, out);
      NNC_UNROLL for (int r = 0; r < height; ++r) out[r].store(half[r][c]);
    }
    NNC_KEEP_LOOP for (int r = 0; r < height; ++r, v += width * point) {
      F in[width], out[width];
      NNC_UNROLL for (int c = 0; c < width; ++c) in[c] = F::load(half[r][c]);
      horizontal::input(in, out);
      NNC_UNROLL for (int c = 0; c < width; ++c) V(out[c]).store(v + c * point);
    }
  }

  template <int R, int N, class Epi>
  static NNC_INLINE void finish(const S &, const transformed_plan &p,
                                const register_tile<V, 1, R, N> &tile,
                                const sums_place<E, Epi> &at) {
    tile.save(at.products + partial(at.point) * p.product_point);
  }

  template <class Epi>
  NNC_NOINLINE static void output(const S &s, const transformed_plan &p,
                                  const E *products, int t, int block, E *y,
                                  const Epi &epilogue) {
    alignas(64) float half[tile_rows][width][W];
    NNC_KEEP_LOOP for (int c = 0; c < width; ++c) {
      F in[height], out[tile_rows];
      NNC_UNROLL for (int r = 0; r < height; ++r) in[r] =
          widen(V::load(products + (r * width + c) * p.product_point));
      vertical::output(in, out);
      NNC_UNROLL for (int r = 0; r < tile_rows; ++r) out[r].store(half[r][c]);
    }
    // A local copy, because the compiler has to assume that stores to y change
    // it.
    const Epi epi = epilogue;
    const int channel = block * W;
    const int image = t / (p.rows * p.cols);
    const int top = t / p.cols % p.rows * tile_rows;
    const int left = t % p.cols * tile_cols;
    const int rows = smaller(tile_rows, s.oh - top);
    const int cols = smaller(tile_cols, s.ow - left);
    ptrdiff_t at =
        ((ptrdiff_t(image) * ceil_div(s.k, W) + block) * s.oh + top) * s.ow *
            W +
        left * W;
    NNC_KEEP_LOOP for (int r = 0; r < rows; ++r, at += s.ow * W) {
      F in[width], out[tile_cols];
      NNC_UNROLL for (int c = 0; c < width; ++c) in[c] = F::load(half[r][c]);
      horizontal::output(in, out);
      NNC_UNROLL for (int c = 0; c < tile_cols; ++c) if (c < cols) {
        store_channels(out[c], y, at + c * W, channel, s.k, epi);
      }
    }
  }
};

/// The routine of a METHOD that has a plan(s), and run_as(s, run), which calls
/// `run` with the transformed_product of the shape's taps.
template <class METHOD, class V, class S, class Epi> struct winograd_routine {
  using E = element_of<V>;

  static constexpr int units(const S &s, int threads = 1) {
    return METHOD::plan(s).shared(threads).units();
  }

  static void run(const S &s, const E *x, const E *w, E *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end,
                  int threads = 1) {
    METHOD::run_as(s, [&](auto routine) {
      decltype(routine)::run(s, x, w, y, scratch, epi, begin, end, threads);
    });
  }
};

/// METHOD of winograd_routine for blocked layouts.
template <class V, int M, class S, int P, int B, class Epi, int SUM, int STRIP,
          int STRIDE>
struct nchwc_winograd {
  static constexpr transformed_plan plan(const S &s) {
    return plan_winograd(s, lanes<V>, M, P, B, sizeof(element_of<V>), STRIP);
  }

  template <class F> static void run_as(const S &s, const F &run) {
    if constexpr (is_member_pointer<decltype(&S::kh)>)
      find_taps<3>(s, run);
    else
      run(of_taps<S::kh, S::kw>());
  }

private:
  template <int KH, int KW>
  using of_taps = transformed_product<
      winograd_of_taps<V, M, KH, KW, S, P, B, SUM, STRIP, STRIDE>, S, P, B,
      Epi>;

  /// Calls `run` for a run-time shape whose taps are a row, a column or a
  /// square of at least R taps a side; with a stride of 2 always a square.
  template <int R, class F> static void find_taps(const S &s, const F &run) {
    if constexpr (M + ceil_div(R, STRIDE) - 1 <=
                  winograd_matrices::most_points) {
      if (s.kh > R || s.kw > R)
        return find_taps<R + 2>(s, run);
      if (s.kh == s.kw)
        return run(of_taps<R, R>());
      if constexpr (STRIDE == 1) {
        if (s.kh == 1)
          run(of_taps<1, R>());
        else
          run(of_taps<R, 1>());
      }
    }
  }
};

template <class V, int M, class S, int P, int B, class Epi,
          int SUM = winograd_summed, int STRIP = usual_strip, int STRIDE = 1>
using conv2d_nchwc_winograd_t =
    winograd_routine<nchwc_winograd<V, M, S, P, B, Epi, SUM, STRIP, STRIDE>, V,
                     S, Epi>;

template <class S, int P, int B, int SUM, int STRIP, class Epi>
using conv2d_f32_nchw16c_winograd2_avx512 =
    conv2d_nchwc_winograd_t<f32x<16>, 2, S, P, B, Epi, SUM, STRIP>;
template <class S, int P, int B, int SUM, int STRIP, class Epi>
using conv2d_f32_nchw16c_winograd4_avx512 =
    conv2d_nchwc_winograd_t<f32x<16>, 4, S, P, B, Epi, SUM, STRIP>;
template <class S, int P, int B, int SUM, int STRIP, class Epi>
using conv2d_f32_nchw16c_winograd6_avx512 =
    conv2d_nchwc_winograd_t<f32x<16>, 6, S, P, B, Epi, SUM, STRIP>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_winograd2_avx2 =
    conv2d_nchwc_winograd_t<f32x<8>, 2, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_winograd2_rvv =
    conv2d_nchwc_winograd_t<f32x<8>, 2, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_winograd4_avx2 =
    conv2d_nchwc_winograd_t<f32x<8>, 4, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_winograd4_rvv =
    conv2d_nchwc_winograd_t<f32x<8>, 4, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_winograd6_avx2 =
    conv2d_nchwc_winograd_t<f32x<8>, 6, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_winograd6_rvv =
    conv2d_nchwc_winograd_t<f32x<8>, 6, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_winograd2_neon =
    conv2d_nchwc_winograd_t<f32x<4>, 2, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_winograd4_neon =
    conv2d_nchwc_winograd_t<f32x<4>, 4, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_winograd6_neon =
    conv2d_nchwc_winograd_t<f32x<4>, 6, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_winograd2_sse4 =
    conv2d_nchwc_winograd_t<f32x<4>, 2, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_winograd4_sse4 =
    conv2d_nchwc_winograd_t<f32x<4>, 4, S, P, B, Epi, SUM>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_winograd6_sse4 =
    conv2d_nchwc_winograd_t<f32x<4>, 6, S, P, B, Epi, SUM>;
template <class S, int P, int B, class Epi>
using conv2d_f16_nchw8c_winograd2_neonfp16 =
    conv2d_nchwc_winograd_t<f16x<8>, 2, S, P, B, Epi>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw16c_strided_winograd2_avx512 =
    conv2d_nchwc_winograd_t<f32x<16>, 2, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw16c_strided_winograd3_avx512 =
    conv2d_nchwc_winograd_t<f32x<16>, 3, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw16c_strided_winograd4_avx512 =
    conv2d_nchwc_winograd_t<f32x<16>, 4, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_strided_winograd2_avx2 =
    conv2d_nchwc_winograd_t<f32x<8>, 2, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_strided_winograd2_rvv =
    conv2d_nchwc_winograd_t<f32x<8>, 2, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_strided_winograd3_avx2 =
    conv2d_nchwc_winograd_t<f32x<8>, 3, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_strided_winograd3_rvv =
    conv2d_nchwc_winograd_t<f32x<8>, 3, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_strided_winograd4_avx2 =
    conv2d_nchwc_winograd_t<f32x<8>, 4, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw8c_strided_winograd4_rvv =
    conv2d_nchwc_winograd_t<f32x<8>, 4, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_strided_winograd2_neon =
    conv2d_nchwc_winograd_t<f32x<4>, 2, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_strided_winograd3_neon =
    conv2d_nchwc_winograd_t<f32x<4>, 3, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_strided_winograd4_neon =
    conv2d_nchwc_winograd_t<f32x<4>, 4, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_strided_winograd2_sse4 =
    conv2d_nchwc_winograd_t<f32x<4>, 2, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_strided_winograd3_sse4 =
    conv2d_nchwc_winograd_t<f32x<4>, 3, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, int SUM, class Epi>
using conv2d_f32_nchw4c_strided_winograd4_sse4 =
    conv2d_nchwc_winograd_t<f32x<4>, 4, S, P, B, Epi, SUM, usual_strip, 2>;
template <class S, int P, int B, class Epi>
using conv2d_f16_nchw8c_strided_winograd2_neonfp16 =
    conv2d_nchwc_winograd_t<f16x<8>, 2, S, P, B, Epi, winograd_summed,
                            usual_strip, 2>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_WINOGRAD_H
