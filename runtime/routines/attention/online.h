//===- online.h - Attention without a matrix of scores --------------------===//
//
// y = softmax(scale * q . k + mask) . v, as shape.h says where each lies.
//
// Lanes are queries: B vectors of them, turned once, meet all keys and values
// as these lie in memory, one broadcast element after the other (tile.h), and
// maxima and sums of the softmax need no step across lanes. The keys come in
// blocks. What was summed over earlier ones is scaled to the new maximum
// (Milakov and Gimelshein, "Online normalizer calculation for softmax"; Dao et
// al., "FlashAttention"), so that the scores of one block are all there ever
// is.
//
// Tiles of halves sum 64 terms at most; scores, the softmax and the sums of
// values over the blocks are floats. A score is off by about 2^-11 of its
// products' magnitudes, summed, and its weight, relatively, by as much. Values
// beyond 1023 may become infinite when 64 of them are summed. The mask may have
// numbers of its own kind.
//
// A unit is some of the groups of B vectors of queries of all heads.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_ONLINE_H
#define NNC_ROUTINES_ATTENTION_ONLINE_H

#include "runtime/epilogue.h"
#include "runtime/routines/attention/plan.h"
#include "runtime/routines/remainder.h"
#include "runtime/routines/tile.h"
#include "runtime/simd/math.h"
#include "runtime/simd/transpose.h"

#include <cfloat>

namespace nnc {

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
        return std::ptrdiff_t(head / s.heads) * strides[0] +
               std::ptrdiff_t(head % s.heads) * strides[1] +
               std::ptrdiff_t(index) * strides[2];
      };
      const job j{
          q + s.q_start + row(s.q_strides, query),
          k + s.k_start + row(s.k_strides, 0),
          v + s.v_start + row(s.v_strides, 0),
          y + ((std::ptrdiff_t(head / s.heads) * s.queries + query) * s.heads +
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

  /// What is to be done for one group of queries, and where.
  struct job {
    const T *q, *k, *v;
    T *y;
    T *queries;    ///< [dim][lanes], scaled
    float *scores; ///< [keys of a block][lanes]
    T *weights;    ///< likewise
    float *sums;   ///< [value_dim][lanes], of values
    int block;     ///< keys
    int count;     ///< queries from the first on
  };

  static constexpr attention_plan plan(const S &s) {
    return plan_attention(s, W, M, B, sizeof(T));
  }

  /// N vectors of queries, from `first` on.
  template <int N, class Mask>
  static void attend(const S &s, const job &j, const Mask *mask, int first) {
    turn_queries<N>(s, j, first);
    // The lowest number, not -inf: it may be subtracted from itself. Queries
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
    const std::ptrdiff_t y_row = std::ptrdiff_t(s.heads) * s.value_dim;
    for (int n = 0; n < N; ++n)
      for (int c = 0; c < s.value_dim; c += W)
        transpose_tile<W>(j.sums + (c * N + n) * W, N * W,
                          smaller(W, s.value_dim - c),
                          smaller(W, j.count - first - n * W),
                          j.y + (first + n * W) * y_row + c, y_row);
  }

  /// Rows of `size` elements from `from` on become columns of `to`, which has N
  /// vectors a row; lanes behind the last of `count` rows are zero.
  template <int N, class From, class To>
  static void turn(const From *from, std::ptrdiff_t step, int count, int size,
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

  template <int N>
  static void turn_queries(const S &s, const job &j, int first) {
    const std::ptrdiff_t step = s.q_strides[2];
    turn<N>(j.q + first * step, step, j.count - first, s.dim, j.queries);
    const F scale(s.scale);
    for (int i = 0; i < s.dim * N; ++i)
      store(j.queries + i * W, load<F>(j.queries + i * W) * scale);
  }

  /// The scores of `count` keys, of which the mask is the first part.
  template <int N, class Mask>
  static void score(const S &s, const job &j, const Mask *mask, int first,
                    int key, int count) {
    if (mask && s.mask_strides[2] == 0)
      for (int i = 0; i < count; ++i)
        NNC_UNROLL for (int n = 0; n < N; ++n) F(float(mask[key + i]))
            .store(j.scores + (i * N + n) * W);
    else if (mask)
      turn<N>(mask + first * std::ptrdiff_t(s.mask_strides[2]) + key,
              s.mask_strides[2], j.count - first, count, j.scores);
    constexpr int left =
        left_over<M, S>([](const S &shape) { return shape.keys; });
    const auto tile = [&](auto size, int i) {
      add_scores<size, N>(s, j, key, i, mask == nullptr);
    };
    // All blocks but the last are of whole tiles.
    if (key + count < s.keys)
      in_tiles<M, 0>(0, count, tile);
    else
      in_tiles<M, left>(0, count, tile);
  }

  template <int R, int N>
  NNC_NOINLINE static void add_scores(const S &s, const job &j, int key, int i,
                                      bool is_first) {
    const T *const first = j.k + std::ptrdiff_t(key + i) * s.k_strides[2];
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

  /// Stores the sums of a tile as floats: of each vector f(what was there, the
  /// sum, which of N), but the sum alone where it is the first.
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

  /// Scores become weights: exponentials of what they are below the largest so
  /// far. `shrink` is what earlier ones were too large by.
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

  /// Elements [c, c + R) of the sums of weighted values.
  template <int R, int N>
  NNC_NOINLINE static void add_values(const S &s, const job &j, int key,
                                      int count, int c, bool is_first,
                                      const F (&shrink)[N]) {
    register_tile<V, 1, R, N> t;
    t.clear();
    const T *const v[1] = {j.v + std::ptrdiff_t(key) * s.v_strides[2] + c};
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
using attention_f32_neon = attention_online_t<f32x<4>, S, M, B, Epi>;
template <class S, int M, int B, class Epi>
using attention_f32_sse4 = attention_online_t<f32x<4>, S, M, B, Epi>;

template <class S, int M, int B, class Epi>
using attention_f16_neonfp16 = attention_online_t<f16x<8>, S, M, B, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_ONLINE_H
