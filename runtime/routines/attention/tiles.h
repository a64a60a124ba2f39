//===- tiles.h - Attention on tile registers ------------------------------===//
//
// y = softmax(scale * q . k + mask) . v, where shape.h says where each operand
// is. q, k and v are bf16, the mask and y any floats. Scores, softmax and sums
// are floats; the weights of values are rounded to bf16, so their relative
// error is at most 2^-9, and so is that of a result, of the sum of magnitudes.
//
// A unit is up to ROWS queries of a head. It copies them to scratch, and keys
// and values in blocks of 64 in tile order. 32 queries by 32 keys, or by 32
// elements of values, are a block of 2 x 2 tiles. Sums over earlier keys are
// scaled to each new largest score, as in online.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_TILES_H
#define NNC_ROUTINES_ATTENTION_TILES_H

#include "runtime/epilogue.h"
#include "runtime/routines/attention/tiles_plan.h"
#include "runtime/routines/tiles/matrix.h"
#include "runtime/simd/math.h"

#include <float.h>
#include <math.h>

namespace nnc {

template <class S, int ROWS, class Epi> struct attention_tiles_t {
  static constexpr bool uses_tiles = true;
  static_assert(ROWS > 0 && ROWS % 32 == 0, "blocks have 32 rows");

  static constexpr int units(const S &s) {
    return s.n * s.heads * plan_attention_tiles(s, ROWS).strips;
  }

  template <class Y>
  static void run(const S &s, const bf16 *q, const bf16 *k, const bf16 *v, Y *y,
                  unsigned char *scratch, const Epi &epi, int begin, int end) {
    run(s, q, k, v, static_cast<const float *>(nullptr), y, scratch, epi, begin,
        end);
  }
  template <class Mask, class Y>
  static void run(const S &s, const bf16 *q, const bf16 *k, const bf16 *v,
                  const Mask *mask, Y *y, unsigned char *scratch, const Epi &,
                  int begin, int end) {
    const attention_tiles_plan p = plan_attention_tiles(s, ROWS);
    for (int unit = begin; unit < end; ++unit) {
      const int head = unit / p.strips, query = unit % p.strips * p.rows;
      const auto row = [&](const int *strides, int index) {
        return ptrdiff_t(head / s.heads) * strides[0] +
               ptrdiff_t(head % s.heads) * strides[1] +
               ptrdiff_t(index) * strides[2];
      };
      job j;
      j.rows = smaller(p.rows, s.queries - query);
      j.queries = scratch;
      j.keys = j.queries + p.query_bytes;
      j.values = j.keys + p.key_bytes;
      j.weights = reinterpret_cast<bf16 *>(j.values + p.value_bytes);
      j.sums =
          reinterpret_cast<float *>(j.values + p.value_bytes + p.weight_bytes);
      j.largest = j.sums + p.sum_bytes / ptrdiff_t(sizeof(float));
      j.totals = j.largest + p.rows;
      copy_queries(s, p, j, q + s.q_start + row(s.q_strides, query));
      for (int i = 0; i < p.rows; ++i) {
        // The lowest finite number, because -inf minus -inf would be NaN.
        j.largest[i] = -FLT_MAX;
        j.totals[i] = 0;
      }
      for (int key = 0; key < s.keys; key += p.keys) {
        const int count = smaller(p.keys, s.keys - key);
        copy_keys(s, p, j, k + s.k_start + row(s.k_strides, key), count);
        copy_values(s, p, j, v + s.v_start + row(s.v_strides, key), count);
        for (int r = 0; r < j.rows; r += 32) {
          float shrink[32];
          weigh(s, p, j, mask ? mask + row(s.mask_strides, query) + key : mask,
                r, count, shrink);
          add_values(p, j, r, count, shrink, key == 0);
        }
      }
      store_results(
          s, p, j,
          y + ((ptrdiff_t(head / s.heads) * s.queries + query) * s.heads +
               head % s.heads) *
                  s.value_dim);
    }
  }

private:
  using F = f32x<16>;

  /// The scratch of a unit.
  struct job {
    int rows;                ///< queries
    unsigned char *queries;  ///< [32 queries][step][query][32]
    unsigned char *keys;     ///< [16 keys][step][pair of elements][key][2]
    unsigned char *values;   ///< [16 elements][32 keys][pair][element][2]
    bf16 *weights;           ///< [32 keys][query][32]
    float *sums;             ///< [query][element of a value], not divided yet
    float *largest, *totals; ///< scores, and sums of weights, by query
  };

  /// Copies queries. What completes the last step of a query is zero; so are
  /// the queries that complete the last 32.
  static void copy_queries(const S &s, const attention_tiles_plan &p,
                           const job &j, const bf16 *q) {
    memset(j.queries, 0, size_t(p.query_bytes));
    for (int i = 0; i < j.rows; ++i, q += s.q_strides[2])
      for (int d = 0; d < s.dim; d += 32)
        memcpy(j.queries + (i / 32 * p.steps + d / 32) * 2048 + i % 32 * 64,
               q + d, size_t(smaller(32, s.dim - d)) * sizeof(bf16));
  }

  /// Copies keys, with zeros behind their ends and behind the last one.
  static void copy_keys(const S &s, const attention_tiles_plan &p, const job &j,
                        const bf16 *k, int count) {
    memset(j.keys, 0, size_t(p.key_bytes));
    for (int i = 0; i < count; ++i, k += s.k_strides[2]) {
      unsigned char *const to = j.keys + (i / 16 * p.steps * 256 + i % 16) * 4;
      for (int pair = 0; pair < s.dim / 2; ++pair)
        memcpy(to + pair * 64, k + 2 * pair, 4);
      if (s.dim % 2)
        memcpy(to + s.dim / 2 * 64, k + s.dim - 1, 2);
    }
  }

  /// Copies values, with zeros behind their ends and behind the last one.
  static void copy_values(const S &s, const attention_tiles_plan &p,
                          const job &j, const bf16 *v, int count) {
    memset(j.values, 0, size_t(p.value_bytes));
    bf16 *const to = reinterpret_cast<bf16 *>(j.values);
    for (int i = 0; i < count; ++i, v += s.v_strides[2])
      for (int c = 0; c < s.value_dim; ++c)
        to[(c / 16 * 2 + i / 32) * 512 + i % 32 / 2 * 32 + c % 16 * 2 + i % 2] =
            v[c];
  }

  /// Computes the products of 32 rows and of 32 columns of `steps` steps.
  static NNC_INLINE void multiply(const unsigned char *rows,
                                  const unsigned char *columns, int steps,
                                  tile_sums<bf16> &sums) {
    tile_block<bf16, bf16, 2, 2> block;
    block.clear();
    NNC_KEEP_LOOP for (int i = 0; i < steps; ++i)
        block.add({{rows + i * 2048, rows + i * 2048 + 1024},
                   64,
                   {columns + i * 1024, columns + (steps + i) * 1024}});
    block.store(sums);
  }

  /// Computes the weights of a block's keys for up to 32 queries from query `r`
  /// on, e^(score - largest score so far). `shrink` becomes the factors of the
  /// sums before.
  template <class Mask>
  NNC_NOINLINE static void weigh(const S &s, const attention_tiles_plan &p,
                                 const job &j, const Mask *mask, int r,
                                 int count, float (&shrink)[32]) {
    tile_sums<bf16> scores[2];
    float parts[32];
    for (int i = 0; i < 2; ++i)
      multiply(j.queries + r / 32 * p.steps * 2048,
               j.keys + i * 2 * p.steps * 1024, p.steps, scores[i]);
    const int rows = smaller(32, j.rows - r);
    for (int row = 0; row < 32; ++row) {
      // Weights of queries that do not exist may be anything finite.
      const Mask *const own =
          mask && row < rows ? mask + (r + row) * ptrdiff_t(s.mask_strides[2])
                             : nullptr;
      F score[4];
      float largest = j.largest[r + row];
      NNC_UNROLL for (int i = 0; i < 4; ++i) {
        const int keys = smaller(16, count - i * 16);
        score[i] = F(-HUGE_VALF);
        if (keys <= 0)
          continue;
        F found = scores[i / 2].load(i % 2, row) * F(s.scale);
        if (own)
          found = found + load<F>(own + i * 16, keys);
        if (keys < 16) {
          float all[16];
          found.store(all);
          for (int n = keys; n < 16; ++n)
            all[n] = -HUGE_VALF;
          found = F::load(all);
        }
        score[i] = found;
        largest = reduce_max(max_fast(found, F(largest)));
      }
      shrink[row] = j.largest[r + row] - largest;
      j.largest[r + row] = largest;
      F sum(0.0f);
      NNC_UNROLL for (int i = 0; i < 4; ++i) {
        const F weight = exp_or_zero(score[i] - F(largest));
        sum = sum + weight;
        store(j.weights + (i / 2 * 32 + row) * 32 + i % 2 * 16, weight);
      }
      parts[row] = reduce_add(sum);
    }
    for (int row = 0; row < 32; row += 16) {
      const F factor = exp_or_zero(F::load(shrink + row));
      factor.store(shrink + row);
      float *const total = j.totals + r + row;
      fma(F::load(total), factor, F::load(parts + row)).store(total);
    }
  }

  /// Scales the sums of 32 queries and adds weighted values of a block's keys.
  NNC_NOINLINE static void add_values(const attention_tiles_plan &p,
                                      const job &j, int r, int count,
                                      const float (&shrink)[32],
                                      bool is_first) {
    const auto *weights = reinterpret_cast<const unsigned char *>(j.weights);
    for (int c = 0; c < p.columns; c += 2) {
      tile_sums<bf16> sums;
      tile_block<bf16, bf16, 2, 2> block;
      block.clear();
      for (int i = 0; i < ceil_div(count, 32); ++i)
        block.add({{weights + i * 2048, weights + i * 2048 + 1024},
                   64,
                   {j.values + (c * 2 + i) * 1024,
                    j.values + (c * 2 + 2 + i) * 1024}});
      block.store(sums);
      for (int row = 0; row < 32; ++row)
        NNC_UNROLL for (int i = 0; i < 2; ++i) {
          float *const at =
              j.sums + (ptrdiff_t(r + row) * p.columns + c + i) * 16;
          const F more = sums.load(i, row);
          (is_first ? more : fma(F::load(at), F(shrink[row]), more)).store(at);
        }
    }
  }

  template <class Y>
  static void store_results(const S &s, const attention_tiles_plan &p,
                            const job &j, Y *y) {
    for (int i = 0; i < j.rows; ++i)
      for (int c = 0; c < s.value_dim; c += 16)
        store(y + ptrdiff_t(i) * s.heads * s.value_dim + c,
              F::load(j.sums + ptrdiff_t(i) * p.columns * 16 + c) /
                  F(j.totals[i]),
              smaller(16, s.value_dim - c));
  }
};

template <class S, int ROWS, class Epi>
using attention_bf16_amxbf16 = attention_tiles_t<S, ROWS, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_TILES_H
