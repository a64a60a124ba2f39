//===- direct.h - Direct 2-D convolution in blocked layouts ---------------===//
//
// y[k] = sum over c of x[c] * w[k, c], x and y in NCHW<W>c, w in KCRS<W>c<W>k.
//
// A register tile covers ROWS x COLS output pixels times OC channel blocks
// (NeoCPU, section 3.1: ic_bn = oc_bn = W, reg_n = ROWS * COLS). The remainders
// at the right, at the bottom and in the last channel blocks have tiles of
// their own, exactly as large as the remainder where the shape is constant.
//
// The input is not padded. Where a tap reaches one pixel over the left or right
// edge, its loop leaves that pixel out. Where it reaches further, the tile
// reads a copy of its pixels in which those outside the input are zero.
//
// Groups are supported where both c / groups and k / groups are multiples of W.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_DIRECT_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_DIRECT_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/shapes/policy.h"
#include "runtime/routines/tiles/floats.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/routines/units/caches.h"
#include "runtime/routines/units/thread_ranges.h"

namespace nnc {

/// Pixels from one channel block of the output to the next. Overloads serve
/// shapes that describe only a part of a map.
template <class S> constexpr ptrdiff_t out_pixels(const S &s) {
  return ptrdiff_t(s.oh) * s.ow;
}

template <class V, class S, int ROWS, int COLS, int OC, class Epi>
struct conv2d_nchwc_direct_t {
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(ROWS > 0 && COLS > 0 && OC > 0, "a tile has points");

  /// Largest horizontal stride that run-time shapes may have.
  static constexpr int max_stride = 4;

  static constexpr int units(const S &s) {
    return s.n * runs(s) * positions(s);
  }

  /// First unit of a thread's share, so that all shares have about as many
  /// pixels.
  static constexpr int share(const S &s, int thread, int threads) {
    return first_of_share(
        s.n, positions(s), runs(s), shares_places_of_convolution(s), thread,
        threads, [&](int position) {
          const int row = position / ceil_div(s.ow, COLS) * ROWS;
          const int col = position % ceil_div(s.ow, COLS) * COLS;
          return smaller(row, s.oh) * s.ow + smaller(ROWS, s.oh - row) * col;
        });
  }

  static void run(const S &s, const T *x, const T *w, T *y, const Epi &epi,
                  int begin, int end) {
    for (const int step = strip_units(s); begin < end; begin += step)
      run_strip(s, x, w, y, epi, begin, smaller(end, begin + step));
  }

private:
  static constexpr int runs(const S &s) {
    return s.groups * ceil_div(out_blocks(s), OC);
  }
  static constexpr int strip_units(const S &s) {
    const int strips =
        strips_of_convolution(s, ceil_div(out_blocks(s), OC), sizeof(T));
    return strips == 1 ? units(s) : runs(s) * larger(1, positions(s) / strips);
  }

  /// Computes units [begin, end) of one strip of the map.
  static void run_strip(const S &s, const T *x, const T *w, T *y,
                        const Epi &epi, int begin, int end) {
    const int tiles = ceil_div(out_blocks(s), OC);
    for_each_run(
        begin, end, positions(s), runs(s), shares_places_of_convolution(s),
        [&](int image, int run, int first, int last) {
          const int group = run / tiles, local = run % tiles * OC;
          const int block = group * out_blocks(s) + local;
          const ptrdiff_t in_plane = ptrdiff_t(s.h) * s.w * W;
          const ptrdiff_t out_plane = out_pixels(s) * W;
          const job j{x + (image * s.groups + group) * in_blocks(s) * in_plane,
                      w + block * weight_block(s),
                      y,
                      &epi,
                      (ptrdiff_t(image) * s.groups * out_blocks(s) + block) *
                          out_plane,
                      block * W};
          sweep(s, j, smaller(OC, out_blocks(s) - local), first, last);
        });
  }

  /// Values that all tiles of one run of channel blocks use.
  struct job {
    const T *x; ///< the image's (and group's) first input block
    const T *w; ///< the first output block's weights
    T *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the first output block
    int channel;   ///< its first channel
  };

  static constexpr int in_blocks(const S &s) {
    return ceil_div(s.c / s.groups, W);
  }
  static constexpr int out_blocks(const S &s) {
    return ceil_div(s.k / s.groups, W);
  }
  static constexpr ptrdiff_t weight_block(const S &s) {
    return ptrdiff_t(in_blocks(s)) * s.kh * s.kw * W * W;
  }
  static constexpr int positions(const S &s) {
    return ceil_div(s.oh, ROWS) * ceil_div(s.ow, COLS);
  }

  /// Number of output columns for which the first tap lies left of the input,
  /// and for which the last tap lies right of it.
  static constexpr int left_reach(const S &s) { return ceil_div(s.pl, s.sw); }
  static constexpr int right_reach(const S &s) {
    const int over = (s.ow - 1) * s.sw + (s.kw - 1) * s.dw - s.pl - (s.w - 1);
    return over <= 0 ? 0 : ceil_div(over, s.sw);
  }

  /// True if tiles read weights from the second-level cache. Tiles with few
  /// points need weights faster than it delivers them; there several tiles use
  /// a part of the weights that stays in the first-level cache.
  static constexpr bool from_level2 = ROWS * COLS >= many_points;
  /// Blocks of input channels whose weights are used at a time.
  static constexpr int chunk(const S &s) {
    const int bytes = s.kh * s.kw * W * W * OC * int(sizeof(T));
    const int least = is_same<T, float>::value ? 1 : part(s);
    const int most = from_level2 ? level2_weights : level1_weights;
    const int blocks = larger(least, most / bytes);
    return from_level2 ? ceil_div(in_blocks(s), ceil_div(in_blocks(s), blocks))
                       : blocks;
  }
  /// Tiles that use a chunk's weights before those of the next chunk.
  static constexpr int chunk_tiles = 16;

  /// Blocks of input channels summed in one go; see most_terms in
  /// tiles/floats.h.
  static constexpr int part(const S &s) {
    return larger(1, register_tile<V, 1, 1, 1>::most_terms / (s.kh * s.kw * W));
  }
  /// Returns true if a tile computes the sums over a chunk in several parts.
  static constexpr bool splits(const S &s) {
    return part(s) < smaller(chunk(s), in_blocks(s));
  }

  /// Computes positions [first, last) of tiles, for a run of `blocks` blocks.
  static void sweep(const S &s, const job &j, int blocks, int first, int last) {
    constexpr int left =
        left_over<OC, S>([](const S &shape) { return out_blocks(shape); });
    in_one_tile<OC, left>(blocks, [&](auto size, int b) {
      job here = j;
      here.w += b * weight_block(s);
      here.out += b * out_pixels(s) * W;
      here.channel += b * W;
      sweep_blocks<size>(s, here, first, last);
    });
  }

  /// sweep() for B blocks, chunk after chunk of the input channels.
  template <int B>
  static void sweep_blocks(const S &s, const job &j, int first, int last) {
    const T *const next_blocks = j.w + B * weight_block(s);
    const int steps = s.kh * s.kw * W; // of a block of input channels
    if (chunk(s) >= in_blocks(s)) {
      weights_dealer<T, W, B> dealer(weight_block(s), last - first);
      dealer.begin(next_blocks, in_blocks(s) * steps, j.w);
      for (int p = first; p < last; ++p)
        place<B>(s, j, p, 0, in_blocks(s), nullptr, dealer.next());
      return;
    }
    alignas(64) T partial[chunk_tiles][ROWS * COLS * B * W];
    for (; first < last; first += chunk_tiles) {
      const int end = smaller(last, first + chunk_tiles);
      weights_dealer<T, W, B> dealer(weight_block(s), end - first);
      for (int c = 0; c < in_blocks(s); c += chunk(s)) {
        const int next = smaller(c + chunk(s), in_blocks(s));
        dealer.begin(next < in_blocks(s) ? j.w + ptrdiff_t(next) * steps * W
                     : end < last        ? j.w
                                         : next_blocks,
                     (next - c) * steps, j.w + ptrdiff_t(c) * steps * W);
        for (int p = first; p < end; ++p)
          place<B>(s, j, p, c, next, partial[p - first], dealer.next());
      }
    }
  }

  /// Computes the tile at position p: ROWS rows, or those that are left there.
  template <int B>
  static void place(const S &s, const job &j, int p, int c0, int c1, T *partial,
                    const later_weights<T> &later) {
    const int row = p / ceil_div(s.ow, COLS) * ROWS;
    const int col = p % ceil_div(s.ow, COLS) * COLS;
    if (s.oh - row >= ROWS)
      return place_columns<ROWS, B>(s, j, row, col, c0, c1, partial, later);
    if constexpr (is_constant<S>) {
      if constexpr (S::oh % ROWS != 0)
        place_columns<S::oh % ROWS, B>(s, j, row, col, c0, c1, partial, later);
    } else {
      for (int r = row; r < s.oh; ++r, partial += partial ? COLS * B * W : 0)
        place_columns<1, B>(s, j, r, col, c0, c1, partial, later);
    }
  }

  /// Computes R rows from (row, col) on: COLS columns, or those that are left.
  template <int R, int B>
  static void place_columns(const S &s, const job &j, int row, int col, int c0,
                            int c1, T *partial, const later_weights<T> &later) {
    if (s.ow - col >= COLS)
      return tile<R, COLS, B>(s, j, row, col, c0, c1, partial, later);
    if constexpr (is_constant<S>) {
      if constexpr (S::ow % COLS != 0)
        tile<R, S::ow % COLS, B>(s, j, row, col, c0, c1, partial, later);
    } else {
      place_rest<R, COLS / 2, B>(s, j, row, col, c0, c1, partial, later);
    }
  }

  /// Covers fewer than COLS columns with tiles of COLS / 2, COLS / 4, ..., 1.
  template <int R, int C, int B>
  static void place_rest(const S &s, const job &j, int row, int col, int c0,
                         int c1, T *partial, const later_weights<T> &later) {
    if constexpr (C > 0) {
      for (; s.ow - col >= C; col += C) {
        tile<R, C, B>(s, j, row, col, c0, c1, partial, later);
        partial += partial ? R * C * B * W : 0;
      }
      place_rest<R, C / 2, B>(s, j, row, col, c0, c1, partial, later);
    }
  }

  /// Computes R x C pixels from (row, col) on of B blocks over input blocks
  /// [c0, c1). Sums over earlier input blocks are in `partial`, and the tile's
  /// sums are saved there until they include the last input block.
  template <int R, int C, int B>
  NNC_NOINLINE static void tile(const S &s, const job &j, int row, int col,
                                int c0, int c1, T *partial,
                                const later_weights<T> &later) {
    register_tile<V, R, C, B> t;
    t.clear();
    const ptrdiff_t plane = ptrdiff_t(s.h) * s.w * W;
    if (c1 == in_blocks(s))
      fetch<R, C, B>(s, j, row, col);
    alignas(64) T earlier[t.size];
    const bool in_parts = splits(s) && c1 - c0 > part(s);
    if (in_parts)
      t.save(earlier);
    for (int c = c0; c < c1; ++c) {
      if (in_parts && c > c0 && (c - c0) % part(s) == 0) {
        t.add_saved(earlier);
        t.save(earlier);
        t.clear();
      }
      const int rest = s.c / s.groups % W;
      const int steps = rest && c == in_blocks(s) - 1 ? rest : W;
      for (int r = 0; r < s.kh; ++r)
        row_of_taps<R, C, B>(
            s, t, j.x + c * plane, j.w + (c * s.kh + r) * s.kw * W * W,
            row * s.sh + r * s.dh - s.pt, col * s.sw - s.pl, steps,
            {later.at + ((c - c0) * s.kh + r) * s.kw * W * later.step,
             later.step});
    }
    if (in_parts)
      t.add_saved(earlier);
    if (c0 > 0)
      t.add_saved(partial);
    if (c1 < in_blocks(s))
      return t.save(partial);
    finish(s, j, t, row, col);
  }

  /// Adds the taps of one kernel row. At the first of them, pixel (i, 0) of the
  /// tile reads input pixel (top + i * sh, left).
  template <int R, int C, int B>
  static NNC_INLINE void row_of_taps(const S &s, register_tile<V, R, C, B> &t,
                                     const T *x, const T *w, int top, int left,
                                     int steps, later_weights<T> later) {
    constexpr fetch_into cache =
        from_level2 ? fetch_into::level2 : fetch_into::level1;
    const T *rows[R];
    bool all = true, any = false;
    NNC_UNROLL for (int i = 0; i < R; ++i) {
      const bool inside =
          fits(s) || (top + i * s.sh >= 0 && top + i * s.sh < s.h);
      rows[i] = x + (inside ? ptrdiff_t(top + i * s.sh) * s.w * W : 0);
      all = all && inside;
      any = any || inside;
    }
    if (!any)
      return;
    const ptrdiff_t a_col = ptrdiff_t(s.sw) * W;
    const ptrdiff_t w_block = weight_block(s);
    NNC_KEEP_LOOP for (int tap = 0; tap < s.kw; ++tap, left += s.dw, w += W * W,
                                                later.at += W * later.step) {
      const int right = left + (C - 1) * s.sw;
      if (fits(s) || (all && left >= 0 && right < s.w)) {
        const T *a[R];
        NNC_UNROLL for (int i = 0; i < R; ++i) a[i] = rows[i] + left * W;
        t.template add<0, C, cache>(a, a_col, 1, w, w_block, W, steps, later);
        continue;
      }
      if (right < 0 || left >= s.w)
        continue;
      if constexpr (C > 1) {
        const bool skip_left = left < 0, skip_right = right >= s.w;
        if (all && skip_left && !skip_right && left + s.sw >= 0) {
          const T *a[R];
          NNC_UNROLL for (int i = 0; i < R; ++i) a[i] =
              rows[i] + (left + s.sw) * W;
          t.template add<1, C, cache>(a, a_col, 1, w, w_block, W, steps, later);
          continue;
        }
        if (all && skip_right && !skip_left && right - s.sw < s.w) {
          const T *a[R];
          NNC_UNROLL for (int i = 0; i < R; ++i) a[i] = rows[i] + left * W;
          t.template add<0, C - 1, cache>(a, a_col, 1, w, w_block, W, steps,
                                          later);
          continue;
        }
      }
      if constexpr (may_gather<R, C>())
        gathered(s, t, rows, w, top, left, steps);
    }
  }

  /// Returns true if no tap of any tile lies outside of the input.
  static constexpr bool fits(const S &s) {
    return s.pt == 0 && left_reach(s) == 0 && right_reach(s) == 0 &&
           (s.oh - 1) * s.sh + (s.kh - 1) * s.dh < s.h;
  }
  /// Returns true if a tile of R x C pixels may need a copy of its input.
  template <int R, int C> static constexpr bool may_gather() {
    if constexpr (is_constant<S>) {
      constexpr S s{};
      if (fits(s))
        return false;
      return R > 1 || C == 1 || left_reach(s) > 1 || right_reach(s) > 1 ||
             (C - 1) * s.sw >= s.w;
    }
    return true;
  }
  /// Largest horizontal stride that gathered() makes room for.
  static constexpr int gather_stride() {
    if constexpr (is_constant<S>)
      return S::sw;
    else
      return max_stride;
  }

  /// Adds one tap from a copy of its pixels, with zeros for those outside the
  /// input.
  template <int R, int C, int B>
  static NNC_INLINE void gathered(const S &s, register_tile<V, R, C, B> &t,
                                  const T *const (&rows)[R], const T *w,
                                  int top, int left, int steps) {
    constexpr int length = ((C - 1) * gather_stride() + 1) * W;
    alignas(64) T copy[R][length];
    const T *a[R];
    for (int i = 0; i < R; ++i) {
      a[i] = copy[i];
      const bool row_inside = top + i * s.sh >= 0 && top + i * s.sh < s.h;
      for (int c = 0; c < C; ++c) {
        const int at = left + c * s.sw;
        const V v = row_inside && at >= 0 && at < s.w
                        ? V::load(rows[i] + at * W)
                        : V(T(0));
        v.store(copy[i] + c * s.sw * W);
      }
    }
    t.template add<0, C>(a, ptrdiff_t(s.sw) * W, 1, w, weight_block(s), W,
                         steps);
  }

  /// Prefetches what the epilogue will read, before the sums are made.
  template <int R, int C, int B>
  static NNC_INLINE void fetch(const S &s, const job &j, int row, int col) {
    const ptrdiff_t line = ptrdiff_t(s.ow) * W;
    const ptrdiff_t out = j.out + row * line + ptrdiff_t(col) * W;
    NNC_UNROLL for (int b = 0; b < B; ++b)
        NNC_UNROLL for (int r = 0; r < R; ++r)
            NNC_UNROLL for (int c = 0; c < C; c += vectors_in_line<T, W>)
                j.epi->fetch(out + b * out_pixels(s) * W + r * line + c * W);
  }

  /// Stores a tile of complete sums through the epilogue.
  template <int R, int C, int B>
  static NNC_INLINE void finish(const S &s, const job &j,
                                register_tile<V, R, C, B> &t, int row,
                                int col) {
    // Local copies, because the compiler has to assume that stores to y change
    // j.
    const Epi epi = *j.epi;
    T *const y = j.y;
    const int channel = j.channel;
    const ptrdiff_t line = ptrdiff_t(s.ow) * W;
    const ptrdiff_t out = j.out + row * line + ptrdiff_t(col) * W;
    NNC_UNROLL for (int b = 0; b < B; ++b) {
      NNC_UNROLL for (int r = 0; r < R; ++r)
          NNC_UNROLL for (int c = 0; c < C; ++c) {
        const ptrdiff_t at = out + b * out_pixels(s) * W + r * line + c * W;
        store_channels(widen(t.sum[r][c][b]), y, at, channel + b * W, s.k, epi);
      }
    }
  }
};

template <class S, int ROWS, int COLS, int OC, class Epi>
using conv2d_f32_nchw16c_direct_avx512 =
    conv2d_nchwc_direct_t<f32x<16>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using conv2d_f32_nchw8c_direct_avx2 =
    conv2d_nchwc_direct_t<f32x<8>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using conv2d_f32_nchw8c_direct_rvv =
    conv2d_nchwc_direct_t<f32x<8>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using conv2d_f32_nchw4c_direct_neon =
    conv2d_nchwc_direct_t<f32x<4>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using conv2d_f32_nchw4c_direct_sse4 =
    conv2d_nchwc_direct_t<f32x<4>, S, ROWS, COLS, OC, Epi>;
template <class S, int ROWS, int COLS, int OC, class Epi>
using conv2d_f16_nchw8c_direct_neonfp16 =
    conv2d_nchwc_direct_t<f16x<8>, S, ROWS, COLS, OC, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_DIRECT_H
