//===- catalogue.h - What the expressions of routines.inc call ------------===//
//
// When a routine applies, and what share of the machine's peak its inner loop
// reaches. Include it before routines.inc wherever those columns are used; no
// emitted module needs it. The numbers come from nnc_bench_routines.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_H
#define NNC_ROUTINES_CATALOGUE_H

#include "runtime/routines/attention/plan.h"
#include "runtime/routines/conv2d/shape.h"
#include "runtime/routines/conv2d/winograd_matrices.h"
#include "runtime/routines/conv2d/winograd_plan.h"
#include "runtime/routines/expanded_conv2d/plan.h"
#include "runtime/routines/matmul/integers_plan.h"
#include "runtime/routines/matmul/plain_plan.h"
#include "runtime/routines/policy.h"
#include "runtime/routines/pool2d/global_plan.h"
#include "runtime/routines/scaled_conv2d/plan.h"
#include "runtime/routines/separable_conv2d/plan.h"
#include "runtime/routines/shares.h"
#include "runtime/routines/strassen_plan.h"

namespace nnc {

/// Newton's method, as <cmath> is not constexpr.
constexpr double square_root(double x) {
  double root = x < 1 ? 1 : x;
  for (int i = 0; i < 64; ++i)
    root = (root + x / root) / 2;
  return root;
}

/// What a core has, with vectors of an instruction set.
struct core_limits {
  double rate;        ///< multiply-adds of vectors that it begins in a cycle
  double last;        ///< and of numbers while one comes from the last cache
  double last_bytes;  ///< which holds so many
  double weight;      ///< multiply-adds of numbers while one comes from where
                      ///< the model's weights are
  double level2;      ///< bytes of the second-level cache
  double level2_rate; ///< and those that come from it in a cycle
  double exposed;     ///< of the shorter of computing and reading from memory,
                      ///< the share that does not hide behind the longer
  double crowded;     ///< 0 where the last cache holds the model's weights
                      ///< beside other data, up to 1 where they alone fill it
};
/// What limits a register tile (tile.h) on an instruction set.
struct tile_limits {
  int lanes;    ///< of a vector
  bool by_lane; ///< a load of a point serves as many steps as it has lanes
  double loads; ///< that a core begins in a cycle, where it always has some
  double peak;  ///< share of it that the best tiles reach
  double parts; ///< multiply-adds that sums in parts cost a load of weights
  double kept;  ///< and that a sum of Strassen's costs more, kept in between
  double far;   ///< share of a load's time from the second-level cache that
                ///< does not hide
  double ends;  ///< cycles to begin a sum and to end it
  core_limits core;

  constexpr tile_limits on(const core_limits &other) const {
    return {lanes, by_lane, loads, peak, parts, kept, far, ends, other};
  }
};
/// Cores that the routines were timed on, or one like them.
constexpr core_limits one_a_cycle{1, 4, 32 << 20, 10, 1 << 20, 31, 0.6, 1},
    two_a_cycle{2, 4, 32 << 20, 10, 1 << 20, 31, 0.6, 1};
constexpr tile_limits avx512_tile{16, false, 1.8, 0.98,       0.4,
                                  0,  0.4,   1,   one_a_cycle};
constexpr tile_limits avx2_tile{8, false, 1.75, 0.93,       0.4,
                                4, 0.4,   1,    two_a_cycle};
constexpr tile_limits neon_tile{4, true, 2, 0.98, 0, 0, 0.2, 1, two_a_cycle};
constexpr tile_limits neonfp16_tile{8, true, 2, 0.98,       0,
                                    0, 0.1,  1, two_a_cycle};
constexpr tile_limits sse4_tile{4, false, 2, 0.93, 0.3, 0, 0.4, 1, two_a_cycle};
constexpr tile_limits avx512vnni_tile = avx512_tile, portable_tile = sse4_tile;

/// Cycles that a multiply-add takes.
constexpr int latency = 4;

/// Multiply-adds that a core could begin while it waits for a vector from the
/// second-level cache.
constexpr double from_level2(const tile_limits &t) {
  return t.core.rate * t.far * t.lanes * 4 / t.core.level2_rate;
}

/// What share of its multiply-adds a core begins in time that add to so many
/// sums: those of one sum wait for each other.
constexpr double chained(const tile_limits &t, double sums) {
  const double most = t.core.rate * latency;
  return sums < most ? sums / most : 1.0;
}

/// A tile of `points` times `blocks` vectors: too few sums wait for each other;
/// a step loads each weight and each point once. Weights that the first-level
/// cache does not hold come slower, and serve `points` multiply-adds each; of
/// tiles of few points a part of them stays there.
constexpr double tile_efficiency(const tile_limits &t, double steps, int points,
                                 int blocks) {
  const double sums = double(points) * blocks, chains = chained(t, sums);
  const double loads =
      t.by_lane ? 1.0 : t.loads * sums / (t.core.rate * (points + blocks));
  const double bytes = steps * blocks * t.lanes * 4;
  const bool in_parts =
      t.parts > 0 && bytes > level1_weights && points < many_points;
  const double more = in_parts         ? t.parts
                      : bytes >= 32768 ? from_level2(t)
                                       : 0.0;
  const double reached = chains < loads ? chains : loads;
  return t.peak * (reached < 1 ? reached : 1.0) * points / (points + more);
}

/// rows x cols points by `channels`, cut into tiles of R x C points by B blocks
/// and what is left over; each sum has `steps` terms, and to begin and to end
/// it costs as much as four more.
constexpr double tiles_efficiency(tile_limits t, int rows, int cols,
                                  int channels, double steps, int R, int C,
                                  int B) {
  const int blocks = ceil_div(channels, t.lanes);
  if (rows * cols <= R * C)
    t.parts = 0;
  double time = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k) {
        const int r = i ? rows % R : R, c = j ? cols % C : C;
        const int b = k ? blocks % B : B;
        const double tiles = (i ? r != 0 : rows / R) *
                             double(j ? c != 0 : cols / C) *
                             (k ? b != 0 : blocks / B);
        if (tiles > 0)
          time +=
              tiles * r * c * b * t.lanes / tile_efficiency(t, steps, r * c, b);
      }
  return double(rows) * cols * channels / time * steps /
         (steps + t.core.rate * t.ends);
}

/// Rows along the last axis, vector by vector where all inputs are contiguous
/// or constant there, else number by number. What a row has less than a vector
/// takes long, unless there are masks for it.
template <class S>
constexpr double elementwise_efficiency(tile_limits t, const S &s) {
  const int width = s.rank > 0 ? s.dims[s.rank - 1] : 1;
  bool whole = true;
  for (int i = 0; width > 1 && i < 8; ++i) {
    const int stride = s.strides[i][s.rank - 1];
    whole = whole && (stride == 0 || stride == 1);
  }
  // In cycles; two loads or a store begin in one. What compilers unroll of
  // narrow vectors has no loop of its own.
  const double part = t.lanes == 16 ? 5 / t.core.rate : t.lanes == 8 ? 8 : 4;
  const double vector = t.lanes == 4 ? 1.65 : 2 / t.core.rate;
  const double row = t.lanes == 4 ? 0 : 1;
  const double cycles =
      whole ? width / t.lanes * vector + (width % t.lanes ? part : 0.0) + row
            : 2.0 * width;
  return width / (t.core.rate * t.lanes * cycles);
}

/// Number by number, unless compilers make vectors of a long row.
template <class S>
constexpr double elementwise_portable_efficiency(const S &s) {
  const int width = s.rank > 0 ? s.dims[s.rank - 1] : 1;
  return width >= 32 ? 0.13 : width > 8 ? 0.06 : 0.08;
}

/// Blocked convolution needs whole blocks of W channels in every group.
template <class S> constexpr bool whole_blocks(const S &s, int W) {
  return s.groups == 1 || (s.c / s.groups % W == 0 && s.k / s.groups % W == 0);
}
template <class S> constexpr bool depthwise_applies(const S &s) {
  return s.groups > 1 && s.groups == s.c && s.c == s.k;
}
/// A tile's row of taps fits its copy (first_layer_span in conv2d/first.h). Of
/// many planes each gives too little at a time.
template <class S> constexpr bool first_applies(const S &s, int C) {
  return s.groups == 1 && s.c <= 16 && (C - 1) * s.sw + (s.kw - 1) * s.dw < 256;
}
template <class S> constexpr bool direct_applies(const S &s, int W) {
  return whole_blocks(s, W) && s.sw <= 4;
}
template <class S> constexpr bool pointwise_applies(const S &s, int W) {
  return direct_applies(s, W) && s.kh == 1 && s.kw == 1 && s.pt == 0 &&
         s.pl == 0 && (s.oh - 1) * s.sh < s.h && (s.ow - 1) * s.sw < s.w;
}

/// See winograd_matrices.h; there are matrices for 4, 6 and 8 points.
constexpr bool winograd_takes(int taps, int M) {
  const int points = M + taps - 1;
  return taps == 1 || (taps > 2 && points % 2 == 0 && points <= 8);
}
template <class S> constexpr bool winograd_applies(const S &s, int M) {
  const bool square = s.kh == s.kw, line = s.kh == 1 || s.kw == 1;
  return s.groups == 1 && square != line && winograd_takes(s.kh, M) &&
         winograd_takes(s.kw, M) && s.sh == 1 && s.sw == 1 && s.dh == 1 &&
         s.dw == 1;
}

/// With a stride, of even and of odd taps by themselves.
template <class S> constexpr bool strided_winograd_applies(const S &s, int M) {
  return s.groups == 1 && s.kh == s.kw && s.kh % 2 == 1 && s.kh > 2 &&
         M + s.kh / 2 <= winograd_matrices::most_points && s.sh == 2 &&
         s.sw == 2 && s.dh == 1 && s.dw == 1;
}

/// Of a plain image, as networks begin; folded taps are 2 to 4 an axis.
template <class S> constexpr bool folded_winograd_applies(const S &s, int M) {
  const int taps = folded_taps(s.kh), points = M + taps - 1;
  return s.groups == 1 && s.c <= 16 && taps > 1 && taps == folded_taps(s.kw) &&
         points % 2 == 0 && points <= 8 && s.sh == 2 && s.sw == 2 &&
         s.dh == 1 && s.dw == 1;
}

/// To read a float again that only the last cache holds, in multiply-adds: of
/// weights, and of what is read in the order of its addresses.
constexpr double refetch(const tile_limits &t) {
  return 2.2 * t.core.exposed * t.core.last;
}
constexpr double refetch_in_order(const tile_limits &t) {
  return 0.88 * t.core.exposed * t.core.last;
}
/// To read a weight from where the model's are while those before it meet so
/// many tiles, of which most are done meanwhile.
constexpr double streamed(const tile_limits &t, int tiles) {
  return t.core.weight + 0.8 * t.core.exposed * tiles;
}

/// To read so many floats in `runs`: all but the first find them where they
/// were before, which may be the last cache.
constexpr double rereads(const tile_limits &t, double floats, int runs,
                         int held = level2_map) {
  return 4 * floats > held ? refetch_in_order(t) * (runs - 1) * floats : 0;
}
/// The efficiency of `work` multiply-adds that reach `efficiency` but for that.
constexpr double with_rereads(const tile_limits &t, double work,
                              double efficiency, double floats, int runs) {
  return work / (work / efficiency + rereads(t, floats, runs));
}
/// Of what a group of a blocked convolution computes in B blocks at a time at
/// `efficiency`, with its input read for each of them, or its weights for each
/// strip of the map.
template <class S>
constexpr double conv2d_with_rereads(tile_limits t, const S &s, int B,
                                     double efficiency) {
  const double channels = double(s.c) / s.groups;
  const double work =
      double(s.oh) * s.ow * (s.k / s.groups) * channels * s.kh * s.kw;
  // Whole blocks of channels come with each pixel.
  const double floats = double(ceil_div(s.c / s.groups, t.lanes)) * t.lanes *
                        smaller(s.h, s.oh * s.kh) * smaller(s.w, s.ow * s.kw);
  const int runs = ceil_div(ceil_div(s.k / s.groups, t.lanes), B);
  const int strips = strips_of_convolution(s, runs, sizeof(float));
  return strips > 1
             ? with_rereads(t, work, efficiency, work / (s.oh * s.ow), strips)
             : with_rereads(t, work, efficiency, floats, runs);
}

/// What share of the taps along an axis meets the input, not what it is padded
/// with: `out` sums of so many taps, which begin `before` the input.
constexpr double share_inside(int in, int out, int taps, int stride,
                              int dilation, int before) {
  double met = 0;
  for (int tap = 0; tap < taps; ++tap) {
    const int at = tap * dilation - before;
    const int first = at < 0 ? ceil_div(-at, stride) : 0;
    const int end = at < in ? ceil_div(in - at, stride) : 0;
    met += larger(0, smaller(end, out) - first);
  }
  return met / (double(out) * taps);
}

template <class S>
constexpr double direct_efficiency(tile_limits t, const S &s, int R, int C,
                                   int B) {
  const double channels = double(s.c) / s.groups, taps = s.kh * s.kw;
  // To begin and to end the sums over part of a block of channels.
  const double part = s.c / s.groups % t.lanes ? 0.35 * taps : 0.0;
  const double met = share_inside(s.h, s.oh, s.kh, s.sh, s.dh, s.pt) *
                     share_inside(s.w, s.ow, s.kw, s.sw, s.dw, s.pl);
  return conv2d_with_rereads(
      t, s, B,
      tiles_efficiency(t, s.oh, s.ow, s.k, channels * taps, R, C, B) *
          channels * taps / (channels * taps + part) / met);
}
/// The first and the last tile of a row copy what they read.
template <class S>
constexpr double first_efficiency(tile_limits t, const S &s, int C, int B) {
  const int span = (C - 1) * s.sw + (s.kw - 1) * s.dw + 1;
  const int blocks = smaller(B, ceil_div(s.k, t.lanes));
  return tiles_efficiency(t, s.oh, s.ow, s.k, double(s.c) * s.kh * s.kw, 1, C,
                          B) /
         (1 + 2.5 * span / (double(s.ow) * s.kw * blocks));
}
template <class S>
constexpr double pointwise_efficiency(tile_limits t, const S &s, int C, int B) {
  const bool one_row = every_pixel(s);
  return conv2d_with_rereads(t, s, B,
                             tiles_efficiency(t, one_row ? 1 : s.oh,
                                              one_row ? s.oh * s.ow : s.ow, s.k,
                                              double(s.c) / s.groups, 1, C, B));
}
/// One plan serves any number of threads: of what takes one thread about as
/// long, rather that which two share evenly.
constexpr double pair_weight = 0.1;

/// The larger share of two threads, over half of all.
constexpr double imbalance(const transformed_plan &p) {
  return 2 * p.shared(2).unit_time() / p.unit_time();
}

/// What transforms take that are so many multiply-adds where a core begins one
/// of 64 bytes a cycle. With more or wider vectors only a fifth of it becomes
/// as much shorter: values are loaded and stored.
constexpr double transforming(const tile_limits &t, double steps) {
  const double wide = t.core.rate * t.lanes / 16;
  return wide > 1 ? steps * (1 + 0.8 * (wide - 1)) : steps;
}

/// How long products of points take, in multiply-adds. So many channels are
/// `summed` at a time, for which the first-level cache may have room beside
/// those that are fetched meanwhile; each sum is loaded and stored. Each strip
/// of tiles reads all weights anew, and each run of blocks the strip's input,
/// where the second-level cache does not hold that. To transform a value takes
/// as long as so many multiply-adds, to transform it back as `back`.
constexpr double transformed_time(tile_limits t, const transformed_plan &p,
                                  int channels, int filters, int summed,
                                  double transform, double back, int P, int B) {
  tile_limits sums = t;
  sums.parts = sums.ends = 0;
  const double products =
      double(filters) * channels /
          tiles_efficiency(sums, 1, p.tiles, filters,
                           smaller(channels, summed + weights_ahead(summed)), 1,
                           P, B) +
      transforming(t, 2.0) * filters * ceil_div(channels, summed);
  const double transforms =
      t.lanes * transforming(t, transform * ceil_div(channels, t.lanes) +
                                    back * ceil_div(filters, t.lanes));
  const int strips = ceil_div(p.groups, p.strip_groups);
  // What is read before the next pass over the runs begins.
  const int passes = strips * (p.points_first ? p.points : 1);
  const double strip_floats = double(p.points) * p.strip_tiles * channels;
  const double weights = double(channels) * filters;
  const double all = p.tiles * products, least = streamed(t, p.tiles) * weights;
  const double bytes = 4 * p.points * weights;
  // Memory gives less to blocks that are read beside each other.
  const double beside =
      bytes > t.core.last_bytes ? 0.15 * (B - 1) * t.core.weight * weights : 0;
  // Of a last-level cache others want their share.
  const bool near = bytes < 0.75 * t.core.last_bytes;
  const double again = near ? refetch_in_order(t) : refetch(t);
  const double time =
      p.points * ((all < least ? least : all) + beside + p.tiles * transforms +
                  again * (strips - 1) * weights) +
      passes *
          rereads(t, strip_floats * strips / passes, p.runs, p.near / 2 * 3);
  return time * (1 + pair_weight * (imbalance(p) - 1));
}
/// Strips longer than usual pay where the second-level cache has room for them,
/// and weights that it does not hold come from memory for each.
constexpr bool strips_pay(const tile_limits &t, const transformed_plan &p,
                          double weights) {
  return p.near <= usual_strip * 1024 ||
         (1.6 * p.near <= t.core.level2 && t.core.crowded >= 1 &&
          4 * p.points * weights > 1.5 * t.core.level2);
}
template <class S>
constexpr double winograd_efficiency(tile_limits t, const S &s, int M, int P,
                                     int B, int summed = winograd_summed,
                                     int strip = usual_strip) {
  const transformed_plan p =
      plan_winograd(s, t.lanes, M, P, B, sizeof(float), strip);
  const bool same = summed > winograd_summed && s.c <= winograd_summed;
  if (same || !strips_pay(t, p, double(s.c) * s.k))
    return 0;
  const int axes = (s.kh > 1) + (s.kw > 1);
  return double(s.n) * s.k * s.oh * s.ow * s.c * s.kh * s.kw /
         transformed_time(t, p, s.c, s.k, summed, 4 * axes, 4 * axes, P, B);
}
/// Of so few channels that the calls of register tiles tell, and bringing
/// pixels into vectors, by pairs.
template <class S>
constexpr double folded_winograd_efficiency(tile_limits t, const S &s, int M,
                                            int P, int B) {
  const transformed_plan p = plan_folded_winograd(s, t.lanes, M, P, B);
  const int channels = folded_channels(s);
  // In cycles.
  const double call = 35, pairs = p.points * channels / 2.0;
  const double cycles = p.tiles * pairs + call * p.groups * p.runs * p.points;
  return double(s.n) * s.k * s.oh * s.ow * s.c * s.kh * s.kw /
         (transformed_time(t, p, channels, s.k, winograd_summed, 8, 8, P, B) +
          t.core.rate * t.lanes * cycles);
}

/// Rounding errors of the products' sums, made in parts, and of the transforms,
/// which the transform back enlarges: all in root mean square. One rounding
/// loses 0.4 * 2^-24. With halves all are 2^13 times as large, and so is what
/// is allowed of them.
constexpr double winograd_error_of(int channels, int summed,
                                   const winograd_filter &rows,
                                   const winograd_filter &cols) {
  const double part = smaller(channels, summed);
  const double parts = double(channels) / summed;
  const double squares = 5.4 + part / 2 + parts / 2;
  return 0.4 / (1 << 24) *
         square_root(squares * rows.error_growth * cols.error_growth);
}
template <class S>
constexpr double winograd_error(const S &s, int M,
                                int summed = winograd_summed) {
  return winograd_error_of(s.c, summed, make_winograd_filter(M, s.kh, s.sh),
                           make_winograd_filter(M, s.kw, s.sw));
}
template <class S> constexpr double folded_winograd_error(const S &s, int M) {
  return winograd_error_of(folded_channels(s), winograd_summed,
                           make_winograd_filter(M, folded_taps(s.kh), 1),
                           make_winograd_filter(M, folded_taps(s.kw), 1));
}
/// Strassen's method in 2^L parts of whole blocks.
template <class S>
constexpr bool strassen_conv2d_applies(const S &s, int L, int W) {
  return pointwise_applies(s, W) && s.groups == 1 && s.c % (W << L) == 0 &&
         s.k % (W << L) == 0;
}
template <class S>
constexpr bool strassen_matmul_applies(const S &s, int L, int W) {
  return !s.transpose_a && !s.transpose_b && s.b_batch_stride == 0 &&
         s.k % (W << L) == 0 && s.n % (W << L) == 0;
}
template <class S>
constexpr transformed_plan plan_strassen_conv2d(const S &s, int L, int W, int P,
                                                int B,
                                                int bytes = sizeof(float)) {
  return plan_strassen(s.n, s.oh * s.ow, s.c, s.k, L, W, P, B, every_pixel(s),
                       bytes);
}
template <class S>
constexpr transformed_plan plan_strassen_matmul(const S &s, int L, int W, int P,
                                                int B,
                                                int bytes = sizeof(float)) {
  return plan_strassen(s.batch, s.m, s.k, s.n, L, W, P, B, false, bytes);
}
/// A weight more than the layer has puts out of the last cache what other
/// layers read there: how much longer they take, in multiply-adds.
constexpr double evicted(const tile_limits &t) {
  return t.core.crowded * refetch(t);
}
/// Of a plan for so many rows in all.
constexpr double strassen_efficiency(tile_limits t, const transformed_plan &p,
                                     int rows, int channels, int filters, int L,
                                     double transform, int P, int B) {
  const double weights = double(channels) * filters;
  const double more = weights * p.points / (1 << 2 * L) - weights;
  return rows * weights /
         (transformed_time(t, p, channels >> L, filters >> L,
                           strassen_summed(L), transform, transform + t.kept, P,
                           B) +
          evicted(t) * more);
}
template <class S>
constexpr double strassen_conv2d_efficiency(tile_limits t, const S &s, int L,
                                            int P, int B) {
  return strassen_efficiency(t, plan_strassen_conv2d(s, L, t.lanes, P, B),
                             s.n * s.oh * s.ow, s.c, s.k, L, 2 + L, P, B);
}
template <class S>
constexpr double strassen_matmul_efficiency(tile_limits t, const S &s, int L,
                                            int P, int B) {
  // Rows of the result lie far apart, which wider cores hide better. The second
  // step makes more sums than the first.
  const double apart = t.core.rate > 1 ? 0.98 : 0.94;
  return apart *
         strassen_efficiency(t, plan_strassen_matmul(s, L, t.lanes, P, B),
                             s.batch * s.m, s.k, s.n, L, 7 * L - 4, P, B);
}
/// Multiply-adds that a bias and one of inner_activation.h's activations take
/// as long as, between two parts of a layer.
constexpr double inner_time(const tile_limits &t, int activation) {
  const double silu = t.by_lane ? 28 * t.lanes / 4 : t.lanes == 16 ? 12 : 16;
  return activation == 4 ? silu : 0.3;
}
template <class S>
constexpr bool scaled_conv2d_applies(const S &s, int L, int W) {
  return L == 0 || (s.c % (W << L) == 0 && s.k % (W << L) == 0);
}
/// Scaling hides behind the sums that are made of what is scaled; without these
/// a value is stored only for that, and loaded again. The family counts it as a
/// multiply-add.
template <class S>
constexpr double scaled_conv2d_efficiency(tile_limits t, const S &s, int L,
                                          int P, int B) {
  const transformed_plan p = plan_scaled_conv2d(s, L, t.lanes, P, B);
  const double product = strassen_efficiency(t, p, s.n * s.h * s.w, s.c, s.k, L,
                                             L ? 2.5 + L : 14.0, P, B);
  // Of a value of the input, of which simple arithmetic is in that.
  const double more = inner_time(t, s.activation) - inner_time(t, 0);
  return (s.k + 1) / (s.k / product + more);
}
/// As of Winograd's method, of sums of so many terms: what is lost beyond the
/// sums in parts of up to 512 terms that other routines make; never nothing.
constexpr double strassen_error(int terms, int L) {
  const int summed = terms >> L;
  const double part = smaller(summed, strassen_summed(L));
  const double parts = larger(1, summed / strassen_summed(L));
  double squares = 2 + part / 2 + parts / 2;
  for (int i = 0; i < L; ++i)
    squares *= strassen_error_growth;
  const double plain = smaller(terms, 512) / 2.0;
  const double beyond = squares - plain;
  return 0.4 / (1 << 24) * square_root(beyond < 1 ? 1 : beyond);
}
/// Columns of a row in tiles of C; see conv2d/depthwise.h. A core loads as many
/// vectors at a time as it multiplies. Where sums wait for each other it goes
/// on with the next tile, which depends on none of them.
template <class S>
constexpr double depthwise_efficiency(tile_limits t, const S &s, int C) {
  double time = 0;
  for (int i = 0; i < 2; ++i) {
    const int c = i ? s.ow % C : C;
    const int tiles = i ? c != 0 : s.ow / C;
    const int loads = (c - 1) * s.sw + 1 + s.kw;
    const double waits = c ? 1 + 0.15 * (1 / chained(t, c) - 1) : 0.0;
    // To begin and to end a row of taps takes as long as two.
    time += c ? tiles * s.kh * (larger(c * s.kw, loads) * waits + 2) : 0.0;
  }
  return t.peak * s.ow * s.kh * s.kw / time * s.k /
         (ceil_div(s.k, t.lanes) * t.lanes);
}
/// A strip and the rows that it is made of stay in the second-level cache. With
/// few strips threads would not have as many each.
template <class S> constexpr bool separable_applies(const S &s, int W, int R) {
  const separable_plan p = plan_separable(s, W, R);
  const int rows = smaller(s.h, (R - 1) * s.sh + (s.kh - 1) * s.dh + 1);
  const std::ptrdiff_t input = std::ptrdiff_t(s.c) * rows * s.w;
  return p.strips >= 12 && p.thread_scratch() + 4 * input <= 512 * 1024;
}
/// The work of both convolutions, in strips of R rows, over the time that they
/// take. Each strip brings all weights of the 1 x 1 part near again, from the
/// second-level cache if they fit there beside the strip.
template <class S>
constexpr double separable_efficiency(tile_limits t, const S &s, int R, int C,
                                      int B) {
  constexpr double level2 = 512 * 1024;
  const auto first = depthwise_part<S>::of(s);
  const double weights = double(s.c) * s.k;
  const double pixels = double(s.oh) * s.ow;
  const double taps = pixels * s.c * s.kh * s.kw;
  double time = taps / depthwise_efficiency(t, first, depthwise_columns(s.ow)) +
                inner_time(t, s.activation) * pixels * s.c +
                (4 * weights > level2 ? refetch(t) : from_level2(t)) * weights *
                    ceil_div(s.oh, R);
  for (int rows : {s.oh / R * R, s.oh % R})
    if (rows > 0)
      time +=
          weights * rows * s.ow /
          tiles_efficiency(t, 1, smaller(R, rows) * s.ow, s.k, s.c, 1, C, B);
  return (taps + pixels * weights) / time;
}
/// The rows that are kept stay in the second-level cache.
template <class S> constexpr bool expanded_applies(const S &s, int W, int B) {
  return plan_expanded(s, W, B).thread_scratch() <= 128 * 1024;
}
/// The work of both convolutions, of B blocks at a time, over the time that
/// they take. Tiles of the first end with each row. Rows that the first-level
/// cache does not hold go to the second and come back.
template <class S>
constexpr double expanded_efficiency(tile_limits t, const S &s, int C, int B) {
  constexpr int level1 = 28 * 1024;
  const expanded_plan p = plan_expanded(s, t.lanes, B);
  const auto second = kept_rows_part<S>::of(s);
  const double pixels = double(s.h) * s.w, sums = pixels * s.c * s.k;
  const double taps = double(s.oh) * s.ow * s.k * s.kh * s.kw;
  const double input = double(ceil_div(s.c, t.lanes)) * t.lanes * pixels;
  const double between = inner_time(t, s.activation) +
                         (p.thread_scratch() > level1 ? 2.5 * t.core.rate : 0);
  const double time =
      sums / tiles_efficiency(t, s.h, s.w, s.k, s.c, 1, C, B) +
      rereads(t, input, p.runs) + between * pixels * s.k +
      taps / depthwise_efficiency(t, second, depthwise_columns(s.ow));
  return (sums + taps) / time;
}
/// Rows that crowd the cache are copied; see matmul/packed.h.
template <class S>
constexpr double packed_efficiency(tile_limits t, const S &s, int M, int B) {
  const bool copies = M > 6 && !s.transpose_a && s.k % 1024 == 0;
  const double work = double(s.m) * s.k * s.n;
  const double efficiency =
      tiles_efficiency(t, 1, s.m, s.n, s.k, 1, M, B) /
      (1 + (copies ? 0.005 * t.core.rate * t.lanes : 0.0));
  const int runs = ceil_div(ceil_div(s.n, t.lanes), B);
  return with_rereads(t, work, efficiency, double(s.m) * s.k, runs);
}
/// A few rows at a time, all in one tile; of 20 bits in sums so long that what
/// rounding adds is as little as their own roundings.
template <int Bits, class S> constexpr bool integers_apply(const S &s, int M) {
  return s.batch == 1 && s.b_batch_stride == 0 && !s.transpose_b && s.m <= M &&
         (M <= 2 || s.m > M / 2) && (Bits == 24 || s.k >= 256);
}
/// To make floats of integers takes as long as some rows more.
template <int Bits, class S>
constexpr double integers_efficiency(tile_limits t, const S &s) {
  return t.peak * s.m / (s.m + (Bits == 24 ? 2 : 3));
}
/// Each element of b is copied once for m rows, and turned if transposed. For a
/// few rows it is read where it is, from lines that lie far apart.
template <class S>
constexpr double plain_efficiency(tile_limits t, const S &s, int M, int B) {
  const double copy = reads_b_in_place(s, t.lanes, M) ? 8
                      : s.transpose_b                 ? 32
                                                      : 24;
  return s.m / (s.m / packed_efficiency(t, s, M, B) + copy);
}
/// Two products of numbers of so many bytes, whose columns are the queries, and
/// an exponential of each score, a float: a vector of them takes as long as so
/// many multiply-adds. Queries and sums are turned. Rows a multiple of 4 KiB
/// apart fall into the same few lines of the first-level cache: eight keys are
/// the most that stay, and each tile reads the values from beyond.
template <class S>
constexpr double attention_efficiency(tile_limits t, const S &s, int M, int B,
                                      int bytes = sizeof(float)) {
  const double scores =
      tiles_efficiency(t, 1, s.keys, s.queries, s.dim, 1, M, B);
  const double values =
      tiles_efficiency(t, 1, s.value_dim, s.queries, s.keys, 1, M, B);
  const double exponential =
      (t.lanes == 16 ? 16 : 36) * double(sizeof(float)) / bytes;
  const int crowded = 4096 / bytes;
  const bool crowds_keys = M > 8 && s.k_strides[2] % crowded == 0;
  const bool crowds_values = s.v_strides[2] % crowded == 0;
  const double score = s.dim / scores * (crowds_keys ? 2 : 1) +
                       s.value_dim / values +
                       (crowds_values ? 5.0 * s.value_dim / (M * B) : 0.0);
  const double lanes = double(ceil_div(s.queries, t.lanes)) * t.lanes;
  const double time =
      double(s.queries) * s.keys * score +
      lanes * (exponential * s.keys + 8.0 * (s.dim + s.value_dim));
  return double(s.queries) * s.keys * (s.dim + s.value_dim) / time;
}

/// From or to plain NCHW, or between blocks of which the smaller is W.
template <class S> constexpr bool adapt_applies(const S &s, int W) {
  const int low = smaller(s.block_in, s.block_out);
  const int high = larger(s.block_in, s.block_out);
  return low == 1 ? high == W : low == W && high % W == 0;
}

/// Whether a copy moves whole rows, for which no routine has vectors of its
/// own.
template <class S> constexpr bool copies_rows(const S &s) {
  return s.src_strides[s.rank - 1] == 1 && s.dst_strides[s.rank - 1] == 1;
}

/// Pooling over the whole image at once.
template <class S> constexpr bool global_applies(const S &s) {
  return s.kh == s.h && s.kw == s.w && s.dh == 1 && s.dw == 1 && s.oh == 1 &&
         s.ow == 1 && s.pt == 0 && s.pl == 0 && s.pb == 0 && s.pr == 0;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_H
