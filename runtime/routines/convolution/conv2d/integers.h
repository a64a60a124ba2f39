//===- integers.h - Direct 2-D convolution of integers of 8 bits ----------===//
//
// y[k] = epi(sum over c of x[c] * w[k, c]): x in NCHW<W>c or, with few
// channels, in NCHW, w in KCRS<W>k<G>c, y in NCHW<W>c. Sums are exact in 32
// bits. G numbers of a pixel are multiplied at a time; see simd/dots.h.
//
// The input of a strip of the output is copied first: the copy contains its
// padding, which has the value `fill`, and its elements have the width and
// grouping that the products need. All output channels read the copy, so that
// the inner loop does not depend on edges and types. There is no copy if the
// input already has that form.
//
// A unit is a run of OC blocks of output channels of a strip. Groups are
// supported where both c / groups and k / groups are multiples of W.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_H

#include "runtime/epilogue.h"
#include "runtime/routines/convolution/conv2d/integers_plan.h"
#include "runtime/routines/tiles/integers.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/store_sums.h"

namespace nnc {

/// The routine with products of the form D of simd/dots.h. With PLAIN, x is in
/// NCHW. If the weights contain orders of channels (tiles/ordered_weights.h),
/// the input is copied anew for each run of blocks that shares one; there is
/// one group.
template <class D, bool PLAIN, class S, int COLS, int OC, class Epi>
struct conv2d_integers_t {
  static constexpr int W = D::lanes, G = D::group;
  /// Numbers of a pixel that follow each other in the copy.
  static constexpr int V = PLAIN ? G : D::together;
  using P = typename D::point;
  using plan_type = conv2d_integers_plan;
  static_assert(COLS > 0 && OC > 0, "a tile has points");
  static_assert(PLAIN || V == W || V == 2 * W, "blocks of the copy");
  static_assert(!is_ordered<D> || W == 8, "orders are of two blocks");

  static constexpr int units(const S &s) { return plan(s).units(OC); }

  template <class X, class T, class Y>
  static void run(const S &s, const X *x, const T *w, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    const plan_type p = plan(s);
    const int runs = ceil_div(p.out_blocks, OC);
    while (begin < end) {
      const int strip = begin / runs, first = begin % runs;
      const int last = smaller(runs, first + end - begin);
      const int image = strip / (p.down * p.across);
      const int place = strip % (p.down * p.across);
      const int row = place / p.across * p.rows;
      const int column = place % p.across * p.columns;
      const int group = image % s.groups;
      job<T, Y> j{};
      j.rows = smaller(p.rows, p.out_height - row);
      j.columns = smaller(p.columns, p.out_width - column);
      j.y = y;
      j.epi = &epi;
      for (int run = first; run < last; ++run) {
        const int local = run * OC, block = group * p.out_blocks + local;
        if (run == first || begins_order(s, local))
          set_points(s, p, x, image, row, column, order_of(s, w, local),
                     reinterpret_cast<P *>(scratch), j);
        j.w = w + weight_place(s, block);
        j.channel = block * W;
        j.out =
            ((ptrdiff_t(image / s.groups) * s.groups * p.out_blocks + block) *
                 p.out_height +
             row) *
                p.out_width * W +
            ptrdiff_t(column) * W;
        constexpr int left = left_over<OC, S>(
            [](const S &shape) { return plan(shape).out_blocks; });
        in_one_tile<OC, left>(smaller(OC, p.out_blocks - local),
                              [&](auto count, int at) {
                                job<T, Y> here = j;
                                here.w += at * weight_block(s);
                                here.channel += at * W;
                                here.out += at * out_plane(p);
                                strip_of_blocks<count>(s, p, here);
                              });
      }
      begin += last - first;
    }
  }

  /// Runs units without scratch, for shapes whose input is read in place.
  template <class X, class T, class Y>
  static void run(const S &s, const X *x, const T *w, Y *y, const Epi &epi,
                  int begin, int end) {
    run(s, x, w, y, static_cast<unsigned char *>(nullptr), epi, begin, end);
  }

private:
  /// Values that all tiles of a strip use.
  template <class T, class Y> struct job {
    const P *points; ///< input of the first tap of the first output
    ptrdiff_t row_stride, block_stride;
    int row_step, column_step; ///< pixels from one output to the next
    int rows, columns;         ///< outputs of the strip
    const T *w;
    Y *y;
    const Epi *epi;
    ptrdiff_t out; ///< index in y of the strip's first output
    int channel;   ///< the first channel
  };

  static constexpr plan_type plan(const S &s) {
    return plan_conv2d_integers(s, W, int(sizeof(P)), COLS, V);
  }
  /// Steps along the input channels of a group.
  static constexpr int steps(const S &s) { return ceil_div(s.c / s.groups, G); }
  static constexpr bounded_weights bounded(const S &s) {
    return {W, steps(s), s.kh, s.kw, bounded_sum<D>, is_ordered<D>};
  }
  static constexpr ordered_weights ordered(const S &s) {
    return {bounded(s), ceil_div(s.k, W)};
  }
  /// Returns true if the output channels from block `local` on need a copy in
  /// an order of their own.
  static constexpr bool begins_order(const S &s, int local) {
    if constexpr (is_ordered<D>) {
      static_assert(ordered_weights::fewest_blocks % OC == 0, "whole runs");
      return local % ordered(s).run_blocks() == 0;
    }
    return false;
  }
  /// Returns the order of channels that the products of block `local` need, or
  /// null if that is the order of the input.
  template <class T>
  static const T *order_of(const S &s, const T *w, int local) {
    if constexpr (is_ordered<D>)
      return w + ordered(s).orders(local);
    return nullptr;
  }
  static constexpr ptrdiff_t weight_place(const S &s, int block) {
    if constexpr (is_ordered<D>)
      return ordered(s).block(block);
    return block * weight_block(s);
  }
  static constexpr ptrdiff_t weight_block(const S &s) {
    if constexpr (bounded_sum<D> != 0)
      return bounded(s).bytes();
    else
      return ptrdiff_t(steps(s)) * s.kh * s.kw * W * G;
  }
  static constexpr ptrdiff_t out_plane(const plan_type &p) {
    return ptrdiff_t(p.out_height) * p.out_width * W;
  }

  /// Sets the address of the points of a strip, after copying them if
  /// necessary.
  template <class X, class T, class Y>
  static void set_points(const S &s, const plan_type &p, const X *x, int image,
                         int row, int column, const T *order, P *copy,
                         job<T, Y> &j) {
    const ptrdiff_t plane = ptrdiff_t(p.height) * p.width * W;
    if constexpr (!PLAIN && V == W && !is_ordered<D> && is_same<X, P>::value) {
      if (reads_in_place(s)) {
        j.points = x + image * p.blocks * plane +
                   (ptrdiff_t(row) * s.sh * p.width + column * s.sw) * W;
        j.row_stride = ptrdiff_t(p.width) * W;
        j.block_stride = plane;
        j.row_step = s.sh;
        j.column_step = s.sw;
        return;
      }
    }
    j.points = copy;
    j.block_stride = ptrdiff_t(p.copy_columns) * V;
    j.row_stride = p.copy_blocks * j.block_stride;
    j.row_step = p.row_step;
    j.column_step = p.column_step;
    const int copy_rows = (j.rows - 1) * p.row_step + (s.kh - 1) * s.dh + 1;
    for (int r = 0; r < copy_rows; ++r) {
      const int from = row * s.sh - s.pt + r * (s.kh == 1 ? s.sh : 1);
      if constexpr (PLAIN) {
        const X *first =
            x + ptrdiff_t(image) * (s.c / s.groups) * p.height * p.width;
        copy_plain_row(s, p, first, from, column, j.columns,
                       copy + r * j.row_stride);
      } else {
        for (int b = 0; b < p.copy_blocks; ++b) {
          const int block = b * (V / W);
          const X *first = x + (ptrdiff_t(image) * p.blocks + block) * plane;
          // Weights are zero where there is no second block.
          copy_row(s, p, first, block + 1 < p.blocks ? first + plane : first,
                   from, column, j.columns, order ? order + b * V : nullptr,
                   copy + r * j.row_stride + b * j.block_stride);
        }
      }
    }
  }

  /// The columns of the copy of a row that lie inside the input: [first, last).
  struct span {
    int from, step, first, last, all;
  };
  static span find_span(const S &s, const plan_type &p, int column,
                        int columns) {
    span c{};
    c.step = s.kw == 1 ? s.sw : 1;
    c.from = column * s.sw - s.pl;
    c.all = (columns - 1) * p.column_step + (s.kw - 1) * s.dw + 1;
    c.first = smaller(c.all, c.from < 0 ? ceil_div(-c.from, c.step) : 0);
    c.last = c.from >= p.width ? 0 : ceil_div(p.width - c.from, c.step);
    c.last = larger(c.first, smaller(c.last, c.all));
    return c;
  }

  /// Copies row `from` of the block of input channels at x and, if blocks of
  /// the copy are twice as long, of the next block at `next`.
  template <class X, class T>
  static void copy_row(const S &s, const plan_type &p, const X *x,
                       const X *next, int from, int column, int columns,
                       [[maybe_unused]] const T *order, P *copy) {
    span c = find_span(s, p, column, columns);
    if (from < 0 || from >= p.height)
      c.first = c.last = c.all;
    for (int i = 0; i < c.first * V; ++i)
      copy[i] = static_cast<P>(s.fill);
    const ptrdiff_t row = ptrdiff_t(from) * p.width * W;
    const auto copy_pixels = [&](int at, int pixel, int count) {
      const ptrdiff_t place = row + ptrdiff_t(pixel) * W;
      if constexpr (is_ordered<D>)
        order_points(copy + at * V, x + place, next + place, order, count,
                     c.step);
      else if constexpr (V == W)
        copy_points<W>(copy + at * V, x + place, ptrdiff_t(count) * W);
      else
        interleave_points<W>(copy + at * V, x + place, next + place, count);
    };
    if (c.first < c.last) {
      if (is_ordered<D> || c.step == 1)
        copy_pixels(c.first, c.from + c.first, c.last - c.first);
      else
        for (int i = c.first; i < c.last; ++i)
          copy_pixels(i, c.from + i * c.step, 1);
    }
    for (int i = c.last * V; i < c.all * V; ++i)
      copy[i] = static_cast<P>(s.fill);
  }

  /// Copies row `from` of all input channels, which are planes of x, in groups
  /// of V channels.
  template <class X>
  static void copy_plain_row(const S &s, const plan_type &p, const X *x,
                             int from, int column, int columns, P *copy) {
    span c = find_span(s, p, column, columns);
    if (from < 0 || from >= p.height)
      c.first = c.last = c.all;
    const int channels = s.c / s.groups;
    const ptrdiff_t plane = ptrdiff_t(p.height) * p.width;
    for (int first = 0; first < channels; first += V) {
      const int count = smaller(V, channels - first);
      const X *rows = x + first * plane + ptrdiff_t(from) * p.width + c.from;
      P *to = copy + first * ptrdiff_t(p.copy_columns);
      fill_points(to, 0, c.first, count, s.fill);
      int i = c.first;
      if constexpr (V == 4 && is_same<X, P>::value)
        if (count >= 3 && c.step == 1)
          i += int(interleave_bytes(
              to + i * V, rows + i, rows + plane + i, rows + 2 * plane + i,
              count == 4 ? rows + 3 * plane + i : nullptr, c.last - c.first));
      for (; i < c.last; ++i)
        for (int channel = 0; channel < V; ++channel)
          to[i * V + channel] =
              channel < count
                  ? static_cast<P>(rows[channel * plane + i * c.step])
                  : P(0);
      fill_points(to, c.last, c.all, count, s.fill);
    }
  }

  /// Sets the first `count` channels of points `first` to `last` - 1 to `value`
  /// and the others to 0.
  static void fill_points(P *to, int first, int last, int count, int value) {
    for (int i = first; i < last; ++i)
      for (int channel = 0; channel < V; ++channel)
        to[i * V + channel] = static_cast<P>(channel < count ? value : 0);
  }

  /// Computes all outputs of a strip for B blocks of channels.
  template <int B, class T, class Y>
  static void strip_of_blocks(const S &s, const plan_type &p,
                              const job<T, Y> &j) {
    constexpr int left = left_over<COLS, S>(
        [](const S &shape) { return plan(shape).out_width; });
    for (int row = 0; row < j.rows; ++row) {
      const P *points = j.points + row * j.row_step * j.row_stride;
      const auto tiles = [&](auto count, int column) {
        tile<count, B>(s, j, points + ptrdiff_t(column) * j.column_step * V,
                       j.out + (ptrdiff_t(row) * p.out_width + column) * W,
                       out_plane(p));
      };
      // Only the last strip of a row has a remainder.
      const int whole = j.columns / COLS * COLS;
      in_tiles<COLS, 0>(0, whole, tiles);
      if (whole < j.columns)
        in_tiles<COLS, left>(whole, j.columns, tiles);
    }
  }

  /// Computes C pixels of B blocks of channels.
  template <int C, int B, class T, class Y>
  NNC_NOINLINE static void tile(const S &s, const job<T, Y> &j, const P *points,
                                ptrdiff_t out, ptrdiff_t plane) {
    dot_tile<D, C, B> sums;
    sums.clear();
    const T *w = j.w;
    // A constant if the shape is constant, except for 1 x 1 convolutions with a
    // stride.
    const int step_of_columns = s.kw == 1 && s.sw > 1 ? j.column_step : s.sw;
    const ptrdiff_t pixel = ptrdiff_t(step_of_columns) * V;
    const ptrdiff_t row_stride = j.row_stride;
    const ptrdiff_t block_stride = j.block_stride;
    constexpr int per_block = V / G;
    for (int step = 0; step < steps(s); ++step) {
      const P *first =
          points + step / per_block * block_stride + step % per_block * G;
      NNC_KEEP_LOOP for (int r = 0; r < s.kh; ++r) {
        const P *at = first + r * s.dh * row_stride;
        int taps = s.kw;
        // If this loop is unrolled, compilers first add single products of
        // several taps to each other, although one instruction can add each to
        // its sum.
        if constexpr (G == 1)
          if (taps > 1)
            asm("" : "+r"(taps));
        for (int t = 0; t < taps; ++t) {
          NNC_FORGET_LOADS;
          sums.add(at, pixel, w, weight_block(s));
          w += W * G;
          at += s.dw * V;
        }
      }
    }
    if constexpr (bounded_sum<D> != 0)
      sums.add_extras(bounded(s), j.w, weight_block(s), pixel, [&](int place) {
        // Unsigned numbers are divided by shifts alone.
        const auto eight = unsigned(bounded_weights::eight_of(place));
        const P *at = points + ptrdiff_t(eight / per_block) * block_stride +
                      eight % per_block * G +
                      bounded_weights::four_of(place) * 4;
        if (s.kh > 1 || s.kw > 1)
          at += bounded_weights::row_of(place) * s.dh * row_stride +
                bounded_weights::column_of(place) * s.dw * V;
        return at;
      });
    // Local copies, because the compiler has to assume that stores to y change
    // j.
    const Epi epi = *j.epi;
    Y *const y = j.y;
    const int channel = j.channel;
    sums.for_each([&](int b, const i32x<W>(&points_of_block)[C]) {
      store_points(points_of_block, y, out + b * plane, channel + b * W, s.k,
                   epi);
    });
  }
};

template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw16c_avx512vnni =
    conv2d_integers_t<byte_dots<16>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw16c_avx512 =
    conv2d_integers_t<pair_dots<16>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_avxvnni =
    conv2d_integers_t<byte_dots<8>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_avx2 =
    conv2d_integers_t<pair_dots<8>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_rvv =
    conv2d_integers_t<single_dots<8>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_sse4 =
    conv2d_integers_t<pair_dots<4>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_neon =
    conv2d_integers_t<pair_dots<4>, false, S, COLS, OC, Epi>;

template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw16c_bounded2_avx512 =
    conv2d_integers_t<bounded_dots<16, 2>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_bounded2_avx2 =
    conv2d_integers_t<bounded_dots<8, 2>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_bounded2_sse4 =
    conv2d_integers_t<bounded_dots<4, 2>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw16c_bounded4_avx512 =
    conv2d_integers_t<bounded_dots<16, 4>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_bounded4_avx2 =
    conv2d_integers_t<bounded_dots<8, 4>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_bounded4_sse4 =
    conv2d_integers_t<bounded_dots<4, 4>, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_ordered2_avx2 =
    conv2d_integers_t<bounded_dots<8, 2, true>, false, S, COLS, OC, Epi>;

template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_neon64 =
    conv2d_integers_t<signed_pairs, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_neondot =
    conv2d_integers_t<signed_dots, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_neoni8mm =
    conv2d_integers_t<matrix_dots, false, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw16c_first_avx512vnni =
    conv2d_integers_t<byte_dots<16>, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw16c_first_avx512 =
    conv2d_integers_t<pair_dots<16>, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_first_avxvnni =
    conv2d_integers_t<byte_dots<8>, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_first_avx2 =
    conv2d_integers_t<pair_dots<8>, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw8c_first_rvv =
    conv2d_integers_t<single_dots<8>, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_first_sse4 =
    conv2d_integers_t<pair_dots<4>, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_first_neon =
    conv2d_integers_t<pair_dots<4>, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_first_neon64 =
    conv2d_integers_t<signed_pairs, true, S, COLS, OC, Epi>;
template <class S, int COLS, int OC, class Epi>
using conv2d_i32_nchw4c_first_neondot =
    conv2d_integers_t<signed_dots, true, S, COLS, OC, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_H
