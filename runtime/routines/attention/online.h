//===- online.h - Attention without a matrix of scores --------------------===//
//
// y = softmax(scale * q . k + mask) . v, where shape.h says where each operand
// is.
//
// Lanes are queries. B vectors of queries are transposed once and then
// multiplied by all keys and values, which are read in place, one broadcast
// element after the other (tiles/floats.h), so that the maxima and sums of the
// softmax need no reduction across lanes. Keys are processed in blocks. Sums
// over earlier blocks are scaled to each new maximum (Milakov and Gimelshein,
// "Online normalizer calculation for softmax"; Dao et al., "FlashAttention"),
// so only the scores of one block are stored at a time.
//
// With f16, tiles sum at most 64 terms; scores, softmax and the sums of
// values over blocks are floats. The error of a score is about 2^-11 of the sum
// of its products' magnitudes, and its weight's relative error is the same. The
// sum of 64 values beyond 1023 may be infinite. The mask may have another
// element type than the other operands.
//
// A unit is one group: B vectors of queries of one head.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_ONLINE_H
#define NNC_ROUTINES_ATTENTION_ONLINE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/routines/attention/plan.h"
#include "runtime/routines/tiles/floats.h"
#include "runtime/routines/tiles/remainder.h"
#include "runtime/simd/math.h"
#include "runtime/simd/transpose.h"

#include <float.h>

namespace nnc {

/// Register tiles are M keys, or M elements of a value, by B vectors of
/// queries.
template <class V, class S, int M, int B, class Epi> struct attention_online_t {
  static constexpr int W = lanes<V>;
  using T = element_of<V>;
  static_assert(W > 1 && (W & (W - 1)) == 0, "W is a vector width");
  static_assert(M > 0 && B > 0, "a tile has points");

  static constexpr int units(const S &s) { return plan(s).groups; }

  static void run(const S &s, const T *q, const T *k, const T *v, T *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    run(s, q, k, v, static_cast<const float *>(nullptr), y, scratch, epi, begin,
        end);
  }
  template <class Mask>
  static void run(const S &s, const T *q, const T *k, const T *v,
                  const Mask *mask, T *y, unsigned char *scratch, const Epi &,
                  int begin, int end) {
    const attention_plan p = plan(s);
    unsigned char *const scores = scratch + p.queries;
    unsigned char *const weights = scores + (p.weights ? p.scores : 0);
    unsigned char *const sums = scores + p.scores + p.weights;
    for (int group = begin; group < end; ++group) {
      const int head = group / p.head_groups;
      const int vector = group % p.head_groups * B, query = vector * W;
      const auto row = [&](const int *strides, int index) {
        return ptrdiff_t(head / s.heads) * strides[0] +
               ptrdiff_t(head % s.heads) * strides[1] +
               ptrdiff_t(index) * strides[2];
      };
      const job j{
          q + s.q_start + row(s.q_strides, query),
          k + s.k_start + row(s.k_strides, 0),
          v + s.v_start + row(s.v_strides, 0),
          y + ((ptrdiff_t(head / s.heads) * s.queries + query) * s.heads +
               head % s.heads) *
                  s.value_dim,
          reinterpret_cast<T *>(scratch),
          reinterpret_cast<float *>(scores),
          reinterpret_cast<T *>(weights),
          reinterpret_cast<float *>(sums),
          p.block,
          s.queries - query};
      const Mask *const first =
          mask ? mask + row(s.mask_strides, query) : nullptr;
      constexpr int left = left_over<B, S>(
          [](const S &shape) { return ceil_div(shape.queries, W); });
      in_one_tile<B, left>(
          smaller(B, ceil_div(s.queries, W) - vector),
          [&](auto size, int i) { attend<size>(s, j, first, i * W); });
    }
  }

private:
  using F = f32x<W>;

  /// Operands, result and scratch of one group of queries.
  struct job {
    const T *q, *k, *v;
    T *y;
    T *queries;    ///< [dim][lanes], transposed and scaled
    float *scores; ///< [keys of a block][lanes]
    T *weights;    ///< [keys of a block][lanes]
    float *sums;   ///< [value_dim][lanes], of weighted values
    int block;     ///< keys of a block
    int count;     ///< queries from the group's first to the last
  };

  static constexpr attention_plan plan(const S &s) {
    return plan_attention(s, W, M, B, sizeof(T));
  }

  /// Computes the results of N vectors of queries, from query `first` of the
  /// group on.
  template <int N, class Mask>
  static void attend(const S &s, const job &j, const Mask *mask, int first) {
    turn_queries<N>(s, j, first);
    // The lowest finite number, because -inf minus -inf would be NaN. Queries
    // that see no key divide 0 by 0, as a softmax of -inf does.
    F largest[N], sum[N];
    NNC_UNROLL for (int n = 0; n < N; ++n) {
      largest[n] = F(-FLT_MAX);
      sum[n] = F(0.0f);
    }
    for (int key = 0; key < s.keys; key += j.block) {
      const int count = smaller(j.block, s.keys - key);
      F shrink[N];
      score<N>(s, j, mask, first, key, count);
      weigh<N>(j, count, largest, sum, shrink);
      constexpr int left =
          left_over<M, S>([](const S &shape) { return shape.value_dim; });
      in_tiles<M, left>(0, s.value_dim, [&](auto size, int c) {
        add_values<size, N>(s, j, key, count, c, key == 0, shrink);
      });
    }
    for (int c = 0; c < s.value_dim; ++c)
      NNC_UNROLL for (int n = 0; n < N; ++n) {
        float *const at = j.sums + (c * N + n) * W;
        (F::load(at) / sum[n]).store(at);
      }
    const ptrdiff_t y_row = ptrdiff_t(s.heads) * s.value_dim;
    for (int n = 0; n < N; ++n)
      for (int c = 0; c < s.value_dim; c += W)
        transpose_tile<W>(j.sums + (c * N + n) * W, N * W,
                          smaller(W, s.value_dim - c),
                          smaller(W, j.count - first - n * W),
                          j.y + (first + n * W) * y_row + c, y_row);
  }

  /// Transposes `count` rows of `size` elements, `step` apart, into columns of
  /// `to`, which has N vectors a row. Lanes behind the last row are zero.
  template <int N, class From, class To>
  static void turn(const From *from, ptrdiff_t step, int count, int size,
                   To *to) {
    if (count < N * W)
      for (int i = 0; i < size * N; ++i)
        store(to + i * W, F(0.0f));
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < size; i += W)
        transpose_tile<W>(from + n * W * step + i, step,
                          smaller(W, count - n * W), smaller(W, size - i),
                          to + (i * N + n) * W, N * W);
  }

  /// Transposes N vectors of queries, from query `first` of the group on, and
  /// scales them.
  template <int N>
  static void turn_queries(const S &s, const job &j, int first) {
    const ptrdiff_t step = s.q_strides[2];
    turn<N>(j.q + first * step, step, j.count - first, s.dim, j.queries);
    const F scale(s.scale);
    for (int i = 0; i < s.dim * N; ++i)
      store(j.queries + i * W, load<F>(j.queries + i * W) * scale);
  }

  /// Computes the scores of `count` keys from `key` on: the mask plus the
  /// products.
  template <int N, class Mask>
  static void score(const S &s, const job &j, const Mask *mask, int first,
                    int key, int count) {
    if (mask && s.mask_strides[2] == 0)
      for (int i = 0; i < count; ++i)
        NNC_UNROLL for (int n = 0; n < N; ++n) F(float(mask[key + i]))
            .store(j.scores + (i * N + n) * W);
    else if (mask)
      turn<N>(mask + first * ptrdiff_t(s.mask_strides[2]) + key,
              s.mask_strides[2], j.count - first, count, j.scores);
    constexpr int left =
        left_over<M, S>([](const S &shape) { return shape.keys; });
    const auto tile = [&](auto size, int i) {
      add_scores<size, N>(s, j, key, i, mask == nullptr);
    };
    // All blocks of keys but the last are cut into whole tiles.
    if (key + count < s.keys)
      in_tiles<M, 0>(0, count, tile);
    else
      in_tiles<M, left>(0, count, tile);
  }

  /// Adds the products of R keys and N vectors of queries to their scores, or
  /// stores the products if `is_first`. The first key is number `i` of the
  /// block that begins with `key`.
  template <int R, int N>
  NNC_NOINLINE static void add_scores(const S &s, const job &j, int key, int i,
                                      bool is_first) {
    const T *const first = j.k + ptrdiff_t(key + i) * s.k_strides[2];
    constexpr int part = register_tile<V, 1, R, N>::most_terms;
    for (int d = 0; d < s.dim; d += part) {
      register_tile<V, 1, R, N> t;
      t.clear();
      const T *const k[1] = {first + d};
      t.template add<0, R>(k, s.k_strides[2], 1, j.queries + d * N * W, W,
                           N * W, smaller(part, s.dim - d));
      join<R, N>(t, j.scores + i * N * W, is_first && d == 0,
                 [](F before, F sum, int) { return sum + before; });
    }
  }

  /// Stores the sums of a tile as floats: each vector becomes f(vector before,
  /// sum, vector of queries), or only the sum if `is_first`.
  template <int R, int N, class Join>
  static NNC_INLINE void join(const register_tile<V, 1, R, N> &t, float *to,
                              bool is_first, Join f) {
    if (is_first) {
      NNC_UNROLL for (int i = 0; i < R * N; ++i) widen(t.sum[0][i / N][i % N])
          .store(to + i * W);
      return;
    }
    NNC_UNROLL for (int i = 0; i < R * N; ++i)
        f(F::load(to + i * W), widen(t.sum[0][i / N][i % N]), i % N)
            .store(to + i * W);
  }

  /// Turns the block's scores into weights, e^(score - largest score so far),
  /// and updates `largest` and the `sum` of weights. `shrink` becomes the
  /// factor that scales earlier weights to the new largest score.
  template <int N>
  static void weigh(const job &j, int count, F (&largest)[N], F (&sum)[N],
                    F (&shrink)[N]) {
    F part[N];
    NNC_UNROLL for (int n = 0; n < N; ++n) {
      shrink[n] = largest[n];
      part[n] = F(0.0f);
    }
    NNC_KEEP_LOOP for (int i = 0; i < count; ++i)
        NNC_UNROLL for (int n = 0; n < N; ++n) largest[n] =
            max_fast(F::load(j.scores + (i * N + n) * W), largest[n]);
    NNC_KEEP_LOOP for (int i = 0; i < count; ++i)
        NNC_UNROLL for (int n = 0; n < N; ++n) {
      const int at = (i * N + n) * W;
      const F weight = exp_or_zero(F::load(j.scores + at) - largest[n]);
      store(j.weights + at, weight);
      part[n] += weight;
    }
    NNC_UNROLL for (int n = 0; n < N; ++n) {
      shrink[n] = exp_or_zero(shrink[n] - largest[n]);
      sum[n] = fma(sum[n], shrink[n], part[n]);
    }
  }

  /// Scales elements [c, c + R) of the sums of values by `shrink`, and adds the
  /// weighted values of `count` keys.
  template <int R, int N>
  NNC_NOINLINE static void add_values(const S &s, const job &j, int key,
                                      int count, int c, bool is_first,
                                      const F (&shrink)[N]) {
    register_tile<V, 1, R, N> t;
    t.clear();
    const T *const v[1] = {j.v + ptrdiff_t(key) * s.v_strides[2] + c};
    t.template add<0, R>(v, 1, s.v_strides[2], j.weights, W, N * W, count);
    join<R, N>(t, j.sums + c * N * W, is_first, [&](F before, F sum, int n) {
      return fma(before, shrink[n], sum);
    });
  }
};

template <class S, int M, int B, class Epi>
using attention_f32_avx512 = attention_online_t<f32x<16>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using attention_f32_avx2 = attention_online_t<f32x<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using attention_f32_rvv = attention_online_t<f32x<8>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using attention_f32_neon = attention_online_t<f32x<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using attention_f32_sse4 = attention_online_t<f32x<4>, S, M, B, Epi>;

template <class S, int M, int B, class Epi>
using attention_f16_neonfp16 = attention_online_t<f16x<8>, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_ONLINE_H
