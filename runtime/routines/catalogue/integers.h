//===- integers.h - Efficiency of sums of products of bytes ---------------===//
#ifndef NNC_ROUTINES_CATALOGUE_INTEGERS_H
#define NNC_ROUTINES_CATALOGUE_INTEGERS_H

#include "runtime/routines/catalogue/convolution.h"
#include "runtime/routines/convolution/conv2d/integers_depthwise_plan.h"
#include "runtime/routines/convolution/conv2d/integers_depthwise_rows_plan.h"
#include "runtime/routines/convolution/conv2d/integers_plan.h"
#include "runtime/routines/convolution/conv2d/integers_winograd_plan.h"
#include "runtime/routines/matrix/matmul/bytes_plan.h"
#include "runtime/routines/tiles/ordered_weights.h"

namespace nnc {

/// Number of products, computed G at a time, in the time of one multiply-add of
/// floats. A single product per lane takes as long as a multiply-add of floats.
constexpr double rate_of_products(const tile_limits &t, int G) {
  return G == 1   ? 1.0
         : G == 8 ? t.cost->eights_rate
         : G == 4 ? t.cost->fours_rate
                  : t.cost->pairs_rate;
}

/// The rate of products of bytes of which `sum` are added in 16 bits.
constexpr double rate_of_bounded(const tile_limits &t, int sum) {
  return sum == 4 ? t.cost->bounded4_rate : t.cost->bounded2_rate;
}

/// Efficiency of conv2d/integers.h with tiles of C pixels by B blocks. Products
/// are computed G at a time, at the rate `rate`. Strips of the input are copied
/// first, in blocks of `together` channels.
template <class S>
constexpr double integers_efficiency_of_conv2d(tile_limits t, const S &s, int C,
                                               int B, int G, int together,
                                               double rate) {
  const conv2d_integers_plan p =
      plan_conv2d_integers(s, t.lanes, G >= 4 ? 1 : 4 / G, C, together);
  const int channels = s.c / s.groups, padded = ceil_div(channels, G) * G;
  const double taps = double(s.kh) * s.kw;
  const double work = double(s.k) * s.oh * s.ow * channels * taps;
  const double reached = rate * channels / padded *
                         tiles_efficiency(t, p.out_height, p.out_width, s.k,
                                          padded * taps / G, 1, C, B);
  const double copied = double(p.down) * p.across * p.copy_rows *
                        p.copy_columns * p.copy_blocks * together;
  return work / (work / reached + t.cost->integers_copy_cost * copied);
}

/// Efficiency of conv2d/integers.h where x is in NCHW<W>c.
template <class S>
constexpr double integers_efficiency_of_conv2d(tile_limits t, const S &s, int C,
                                               int B, int G) {
  return integers_efficiency_of_conv2d(t, s, C, B, G, larger(G, t.lanes),
                                       rate_of_products(t, G));
}

/// Efficiency of conv2d/integers.h with x in NCHW<W>c and weights that are
/// bounded for sums of `sum` products.
template <class S>
constexpr double bounded_efficiency_of_conv2d(tile_limits t, const S &s, int C,
                                              int B, int sum) {
  return integers_efficiency_of_conv2d(t, s, C, B, 8, larger(8, t.lanes),
                                       rate_of_bounded(t, sum));
}

/// Efficiency of conv2d/integers.h with x in NCHW<W>c and weights that are
/// bounded for sums of two products and contain orders of channels. The input
/// is copied for each run of blocks that shares an order, and lies in a near
/// cache after the first copy. The fewer channels, the more extra vectors do
/// weights of networks need: a twelfth of the vectors with 64 channels, a
/// fiftieth with 512.
template <class S>
constexpr double ordered_efficiency_of_conv2d(tile_limits t, const S &s, int C,
                                              int B) {
  const ordered_weights form{{t.lanes, ceil_div(s.c, 8), s.kh, s.kw, 2, true},
                             ceil_div(s.k, t.lanes)};
  const double once =
      integers_efficiency_of_conv2d(t, s, C, B, 8, 16, t.cost->ordered2_rate);
  const conv2d_integers_plan p = plan_conv2d_integers(s, t.lanes, 1, C, 16);
  const double work = double(s.k) * s.oh * s.ow * s.c * s.kh * s.kw;
  const double copied = double(p.down) * p.across * p.copy_rows *
                        p.copy_columns * p.copy_blocks * 16;
  return work / (work / once * (1 + 5.0 / s.c) +
                 t.cost->integers_copy_cost / 3 * copied * (form.runs() - 1));
}

/// Efficiency of conv2d/integers.h where x is in NCHW.
template <class S>
constexpr double first_integers_efficiency(tile_limits t, const S &s, int C,
                                           int B, int G) {
  return integers_efficiency_of_conv2d(t, s, C, B, G, G,
                                       rate_of_products(t, G));
}

/// Efficiency of conv2d/integers_winograd.h with register tiles of P tiles by B
/// blocks.
template <class S>
constexpr double integers_winograd_efficiency(tile_limits t, const S &s, int P,
                                              int B) {
  const integers_winograd_plan p = plan_integers_winograd(s, t.lanes, P, B);
  const int tiles = p.tile_rows * p.tile_columns;
  const double work = double(s.k) * s.oh * s.ow * s.c * 9;
  const double products = double(p.points) * tiles * s.c * s.k;
  const double reached =
      t.cost->pairs_rate *
      tiles_efficiency(t, p.chunks, p.chunk, s.k, s.c / 2.0, 1, P, B);
  const double transformed =
      double(p.points) * tiles * (p.channels + double(p.out_blocks) * t.lanes);
  return work /
         (products / reached + t.cost->integers_transform_cost * transformed);
}

/// Efficiency of conv2d/integers_depthwise.h with tiles of C pixels. For each
/// output row, rows of the input are interleaved first.
template <class S>
constexpr double integers_depthwise_efficiency(tile_limits t, const S &s, int C,
                                               int G) {
  const int groups = ceil_div(s.kh, G);
  const double taps = double(s.kh) * s.kw;
  const double lines =
      t.cost->integers_line_cost * groups * integers_depthwise_columns(s);
  const double sums = double(s.ow) * groups * s.kw * G /
                      rate_of_products(t, G) / chained(t, smaller(C, s.ow));
  return s.ow * taps / (sums + lines) * s.k /
         (ceil_div(s.k, t.lanes) * t.lanes);
}

/// Efficiency of conv2d/integers_depthwise_rows.h with tiles of C pixels. Two
/// pixels are widened at a time. Each row of the input is copied once.
template <class S>
constexpr double integers_depthwise_rows_efficiency(tile_limits t, const S &s,
                                                    int C) {
  const double taps = double(s.kh) * s.kw;
  double time = t.cost->integers_copy_cost * s.sh *
                plan_integers_depthwise_rows(s, t.lanes).columns;
  for (int i = 0; i < 2; ++i) {
    const int c = i ? s.ow % C : C, tiles = i ? c != 0 : s.ow / C;
    const bool by_row = s.dw == 1 && s.sw <= 2 && (s.kw == 3 || s.kw == 5);
    const double widened =
        by_row ? ((c - 1) * s.sw + s.kw) / 2.0 : 3.0 * c * s.kw;
    if (tiles)
      time +=
          tiles * s.kh *
          ((c * s.kw + widened) / chained(t, c) + t.cost->depthwise_row_cost);
  }
  return t.cost->peak_share * s.ow * taps / time * s.k /
         (ceil_div(s.k, t.lanes) * t.lanes);
}

/// Efficiency of matmul/bytes.h with tiles of M rows by B panels. Products are
/// computed G at a time, at the rate `rate`.
template <class S>
constexpr double bytes_efficiency(tile_limits t, const S &s, int M, int B,
                                  int G, double rate) {
  const int padded = ceil_div(s.k, G) * G;
  const double work = double(s.m) * s.n * s.k;
  const double reached =
      rate * s.k / padded *
      tiles_efficiency(t, 1, s.m, s.n, double(padded) / G, 1, M, B);
  return work /
         (work / reached + t.cost->integers_copy_cost * double(s.m) * s.k);
}
template <class S>
constexpr double bytes_efficiency(tile_limits t, const S &s, int M, int B,
                                  int G) {
  return bytes_efficiency(t, s, M, B, G, rate_of_products(t, G));
}
/// Efficiency of matmul/bytes.h with weights bounded for sums of `sum`
/// products.
template <class S>
constexpr double bounded_efficiency(tile_limits t, const S &s, int M, int B,
                                    int sum) {
  return bytes_efficiency(t, s, M, B, 8, rate_of_bounded(t, sum));
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_INTEGERS_H
