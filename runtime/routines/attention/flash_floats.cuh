//===- flash_floats.cuh - Attention in floats without a matrix of scores --===//
//
// y = softmax(scale * q . k + mask) . v of floats, where shape.h says where
// each operand is.
//
// grid     x: tiles of QUERIES queries of a head, those of the same head side
//          by side
// block    128 threads; each warp computes QUERIES / 4 queries
// shared   at most 56 KiB: q, a step of k, one of v, and weights
// regs     a thread has up to 128 for DIM 32, 168 for 64 and 128, 214 for 96,
//          without spills, in test/runtime/cuda/attention_kernels.inc
// arch     sm_75 on
// reads    q, k, v, whose starts and strides are multiples of 16 bytes, and the
//          mask, of floats or halves and any strides
// writes   y, 16-byte aligned; value_dim is a multiple of 4
// error    all is computed in floats; powers of 2 are exact to 2^-22
//
// The method is that of flash.cuh, with fused multiply-adds. Eight lanes share
// QUERIES / 16 queries: a lane has the scores of every eighth of the 32 keys of
// a step, and the sums of every eighth chunk of v. Weights pass from lane to
// lane through shared memory. The step's values are loaded during its scores,
// and the next step's keys while values are added.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_FLOATS_CUH
#define NNC_ROUTINES_ATTENTION_FLASH_FLOATS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/attention/flash_floats_scores.cuh"
#include "runtime/routines/attention/flash_plan.h"
#include "runtime/routines/attention/flash_scores.cuh"
#include "runtime/routines/attention/flash_tile.cuh"
#include "runtime/simd/unroll.h"
#include "runtime/simd/vec.h"

#include <stddef.h>
#include <string.h>

namespace nnc {

template <class S, int DIM, int QUERIES, class Epi>
struct flash_floats_attention {
  using tile = flash_floats_tile<DIM, QUERIES>;
  static constexpr int threads = tile::threads,
                       shared_bytes = tile::shared_bytes;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return flash_grid(s, QUERIES);
  }
  template <class B>
  static NNC_INLINE void run(B &b, const S &s, const float *q, const float *k,
                             const float *v, float *y, const Epi &) {
    attend(b, s, place(b, s), q, k, v, flash_floats_unmasked(), y);
  }
  /// The elements of the mask are floats or halves.
  template <class B, class M>
  static NNC_INLINE void run(B &b, const S &s, const float *q, const float *k,
                             const float *v, const M *mask, float *y,
                             const Epi &) {
    const place at(b, s);
    attend(b, s, at, q, k, v,
           flash_floats_masked<rows, M>(b, s, at, mask,
                                        at.query + first_row(b.thread())),
           y);
  }

private:
  static constexpr int rows = tile::rows;
  static constexpr int columns = DIM / 32; ///< chunks of v of a lane
  using place = flash_place_of<tile>;
  using key_rows = flash_rows<tile, tile::keys>;
  using scores = float[rows][4];
  using sums = float[rows][columns][4];

  /// The first of a thread's rows of the tile. The others follow at every
  /// fourth row.
  static NNC_INLINE int first_row(int thread) {
    return thread / warp_lanes * (QUERIES / tile::warps) +
           thread % warp_lanes / 8;
  }
  template <class B, class Mask>
  static NNC_INLINE void attend(B &b, const S &s, const place &at,
                                const float *q, const float *k, const float *v,
                                const Mask &mask, float *y) {
    const shared_address q_tile = b.shared_base();
    const shared_address k_tile = q_tile + tile::q_bytes;
    const shared_address v_tile = k_tile + tile::rows_bytes;
    const shared_address weights = v_tile + tile::rows_bytes;
    const float *const first = q + s.q_start + at.of(s.q_strides) +
                               ptrdiff_t(at.query) * s.q_strides[2];
    const flash_rows<tile, QUERIES> from(b.thread(), first, s.q_strides[2],
                                         s.queries - at.query, s.dim);
    key_rows keys(b.thread(), k + s.k_start + at.of(s.k_strides),
                  s.k_strides[2], s.keys, s.dim);
    key_rows values(b.thread(), v + s.v_start + at.of(s.v_strides),
                    s.v_strides[2], s.keys, s.value_dim);
    b.wait_for_inputs();
    from.copy(b, q_tile);
    keys.copy(b, k_tile);
    b.commit_copies();

    if (at.query + first_row(b.thread() / warp_lanes * warp_lanes) >=
        s.queries) {
      // A warp without queries only loads.
      over_keys(b, s, keys, values, k_tile, [](int) {}, [] {});
      b.let_next_launch_begin();
      return;
    }
    sums o = {};
    flash_softmax<rows, 8> softmax;
    over_keys(
        b, s, keys, values, k_tile,
        [&](int key) {
          scores d = {};
          multiply(b, q_tile, k_tile, d);
          mask.apply(b, s, d, key);
          NNC_UNROLL
          for (int i = 0; i < rows; ++i) {
            const float shrink = softmax.template weigh<4>(
                b, i, Mask::power, [&](int j) -> float & { return d[i][j]; });
            scale(o[i], shrink);
          }
          store_weights(b, weights, d);
        },
        [&] { add_values(b, weights, v_tile, o); });
    b.let_next_launch_begin();
    store(b, s, at, softmax, o, y);
  }

  /// Scales a row's sums over earlier steps to its new maximum.
  static NNC_INLINE void scale(float (&o)[columns][4], float shrink) {
    NNC_UNROLL
    for (auto &chunk : o) {
      NNC_UNROLL
      for (float &x : chunk)
        x *= shrink;
    }
  }

  /// Goes over the keys. For each step, calls weigh(first key of the step)
  /// while its values are loaded, and then add() while the next keys are.
  template <class B, class Weigh, class Add>
  static NNC_INLINE void over_keys(B &b, const S &s, key_rows keys,
                                   key_rows values, shared_address k_tile,
                                   Weigh weigh, Add add) {
    const shared_address v_tile = k_tile + tile::rows_bytes;
    words4 chunks[key_rows::count];
    NNC_KEEP_LOOP
    for (int key = 0; key < s.keys; key += tile::keys) {
      // The keys have arrived, and all warps are done with the values and
      // weights of the step before.
      b.template wait_copies<0>();
      b.barrier();
      start(b, values, v_tile, chunks);
      weigh(key);
      end(b, values, v_tile, chunks);
      values.advance();
      // The values and weights have arrived, and all warps are done with the
      // keys.
      b.template wait_copies<0>();
      b.barrier();
      keys.advance();
      const bool loads = key + tile::keys < s.keys;
      if (loads)
        start(b, keys, k_tile, chunks);
      add();
      if (loads)
        end(b, keys, k_tile, chunks);
    }
  }

  /// Start and end to bring a step of k or v to shared memory: by a copy, or
  /// through registers where copies are not asynchronous.
  template <class B>
  static NNC_INLINE void start(B &b, const key_rows &from, shared_address to,
                               words4 (&chunks)[key_rows::count]) {
    if constexpr (B::copies_are_async)
      from.copy(b, to);
    else
      from.load(b, chunks);
    b.commit_copies();
  }
  template <class B>
  static NNC_INLINE void end(B &b, const key_rows &from, shared_address to,
                             const words4 (&chunks)[key_rows::count]) {
    if constexpr (!B::copies_are_async)
      from.store(b, to, chunks);
  }

  /// Adds the products of the thread's queries and keys.
  template <class B>
  static NNC_INLINE void multiply(B &b, shared_address q, shared_address k,
                                  scores &d) {
    const int row = first_row(b.thread()), key = b.thread() % 8;
    // More than one chunk at a time needs more registers than there are.
    NNC_KEEP_LOOP
    for (int c = 0; c < tile::chunks; ++c) {
      flash_four x[rows];
      NNC_UNROLL
      for (int i = 0; i < rows; ++i)
        x[i] = flash_load(b, q + flash_place<tile>(row + i * 4, c));
      NNC_UNROLL
      for (int j = 0; j < 4; ++j) {
        const flash_four w =
            flash_load(b, k + flash_place<tile>(key + j * 8, c));
        NNC_UNROLL
        for (int i = 0; i < rows; ++i) {
          NNC_UNROLL
          for (int e = 0; e < 4; ++e)
            d[i][j] = fma(x[i].element[e], w.element[e], d[i][j]);
        }
      }
    }
  }

  template <class B>
  static NNC_INLINE void store_weights(B &b, shared_address weights,
                                       const scores &d) {
    const int row = first_row(b.thread()), key = b.thread() % 8;
    NNC_UNROLL
    for (int i = 0; i < rows; ++i) {
      NNC_UNROLL
      for (int j = 0; j < 4; ++j)
        b.store_shared(weights +
                           flash_weights_place(row + i * 4, j * 2 + key / 4) +
                           key % 4 * 4,
                       d[i][j]);
    }
  }

  /// Adds the step's values times their weights.
  template <class B>
  static NNC_INLINE void add_values(B &b, shared_address weights,
                                    shared_address v, sums &o) {
    const int row = first_row(b.thread()), chunk = b.thread() % 8;
    NNC_KEEP_LOOP
    for (int key = 0; key < tile::keys; key += 4) {
      flash_four w[rows];
      NNC_UNROLL
      for (int i = 0; i < rows; ++i)
        w[i] =
            flash_load(b, weights + flash_weights_place(row + i * 4, key / 4));
      NNC_UNROLL
      for (int r = 0; r < 4; ++r) {
        NNC_UNROLL
        for (int c = 0; c < columns; ++c) {
          const flash_four x =
              flash_load(b, v + flash_place<tile>(key + r, chunk + c * 8));
          NNC_UNROLL
          for (int i = 0; i < rows; ++i) {
            NNC_UNROLL
            for (int e = 0; e < 4; ++e)
              o[i][c][e] = fma(w[i].element[r], x.element[e], o[i][c][e]);
          }
        }
      }
    }
  }

  /// Divides the sums of values by those of weights, and stores them.
  template <class B, class Softmax>
  static NNC_INLINE void store(B &b, const S &s, const place &at,
                               const Softmax &softmax, const sums &o,
                               float *y) {
    const int query = at.query + first_row(b.thread());
    y += ((ptrdiff_t(at.image) * s.queries + query) * s.heads + at.head) *
         s.value_dim;
    NNC_UNROLL
    for (int i = 0; i < rows; ++i) {
      const float inverse = softmax.inverse(b, i);
      NNC_UNROLL
      for (int c = 0; c < columns; ++c) {
        const int first = (b.thread() % 8 + c * 8) * 4;
        float values[4];
        NNC_UNROLL
        for (int e = 0; e < 4; ++e)
          values[e] = o[i][c][e] * inverse;
        words4 words;
        memcpy(&words, values, 16);
        if (query + i * 4 < s.queries && first < s.value_dim)
          b.store_global(
              reinterpret_cast<words4 *>(
                  y + ptrdiff_t(i * 4) * s.heads * s.value_dim + first),
              words);
      }
    }
  }
};

/// The routine with blocks of QUERIES queries, for rows of q, k and v of up to
/// DIM elements: 32, 64 or 96 with 64 queries, and 128 with 32.
template <class S, int DIM, int QUERIES, class Epi> struct attention_f32_sm75 {
  using kernels = kernel_list<flash_floats_attention<S, DIM, QUERIES, Epi>>;
  static constexpr int arch = 75;
};

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_FLOATS_CUH
