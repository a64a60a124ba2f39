//===- flash.cuh - Attention on tensor cores without a matrix of scores ---===//
//
// y = softmax(scale * q . k + mask) . v of halves or of bf16, where shape.h
// says where each operand is.
//
// grid     x: tiles of QUERIES queries of a head, those of the same head side
//          by side
// block    128 threads; each warp computes QUERIES / 4 queries
// shared   at most 32 KiB: two stages of a step of k and v
// regs     a thread has up to 138 for DIM 32, 184 for 64 (254 with 128
//          queries), 177 for 96 and 244 for 128, without spills in what
//          test/runtime/cuda/attention_kernels.inc lists
// arch     sm_75 on for halves, sm_80 on for bf16
// reads    q, k, v, whose starts and strides are multiples of 16 bytes, and the
//          mask, of floats or of T and any strides
// writes   y, 16-byte aligned; value_dim is a multiple of 8
// error    products are exact; sums, softmax and the weighted sums of values
//          are floats, but the weights, at most 1, are rounded to T before they
//          are multiplied. Powers of 2 are exact to 2^-22.
//
// The method is that of Dao, "FlashAttention-2": a block keeps a tile of
// queries in registers and goes over the keys in steps. Sums over earlier steps
// are scaled to each new maximum. The sums of an `mma` lie in registers as the
// next `mma` expects its first factor, so scores and weights never leave them.
// Sums are added in the order of keys, so results have the same bits in every
// run.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_FLASH_CUH
#define NNC_ROUTINES_ATTENTION_FLASH_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/attention/flash_plan.h"
#include "runtime/routines/attention/flash_scores.cuh"
#include "runtime/routines/attention/flash_store.cuh"
#include "runtime/routines/attention/flash_tile.cuh"
#include "runtime/routines/blocks/elements.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

#include <stddef.h>

namespace nnc {

template <class S, int DIM, int QUERIES, int KEYS, class Epi, class T = f16>
struct flash_attention {
  using tile = flash_tile<DIM, QUERIES, KEYS, T>;
  static constexpr int threads = tile::threads,
                       shared_bytes = tile::shared_bytes;

  NNC_FN static constexpr grid_size grid(const S &s) {
    return flash_grid(s, QUERIES);
  }
  template <class B>
  static NNC_INLINE void run(B &b, const S &s, const T *q, const T *k,
                             const T *v, T *y, const Epi &) {
    attend(b, s, place(b, s), q, k, v, flash_unmasked<tile>(), y);
  }
  /// The elements of the mask are floats or of type T.
  template <class B, class M>
  static NNC_INLINE void run(B &b, const S &s, const T *q, const T *k,
                             const T *v, const M *mask, T *y, const Epi &) {
    const place at(b, s);
    attend(
        b, s, at, q, k, v,
        flash_masked<tile, M>(s, mask, at.image, at.head, at.query, b.thread()),
        y);
  }

private:
  static constexpr int row_tiles = tile::warp_queries / 16;
  static constexpr int rows = row_tiles * 2;
  using place = flash_place_of<tile>;
  using q_rows = flash_rows<tile, QUERIES>;
  using key_rows = flash_rows<tile, KEYS>;
  using queries = words4[row_tiles][DIM / 16];
  using scores = float[row_tiles][KEYS / 8][4];
  using sums = float[row_tiles][DIM / 8][4];

  template <class B, class Mask>
  static NNC_INLINE void attend(B &b, const S &s, const place &at, const T *q,
                                const T *k, const T *v, const Mask &mask,
                                T *y) {
    const shared_address base = b.shared_base();
    const T *const first = q + s.q_start + at.of(s.q_strides) +
                           ptrdiff_t(at.query) * s.q_strides[2];
    const q_rows from(b.thread(), first, s.q_strides[2], s.queries - at.query,
                      s.dim);
    key_rows keys(b.thread(), k + s.k_start + at.of(s.k_strides),
                  s.k_strides[2], s.keys, s.dim);
    key_rows values(b.thread(), v + s.v_start + at.of(s.v_strides),
                    s.v_strides[2], s.keys, s.value_dim);
    b.wait_for_inputs();
    from.copy(b, base + tile::stage_bytes);
    keys.copy(b, base);
    values.copy(b, base + tile::rows_bytes);
    b.commit_copies();
    b.template wait_copies<0>();
    b.barrier();
    if (at.query + b.thread() / warp_lanes * tile::warp_queries >= s.queries) {
      // A warp without queries only loads.
      over_keys(
          b, s, keys, values, base, [](shared_address) {},
          [](shared_address, int) {});
      b.let_next_launch_begin();
      return;
    }
    queries a;
    load_queries(b, base + tile::stage_bytes, a);
    sums o = {};
    flash_softmax<rows, 4> softmax;
    scores d;
    over_keys(
        b, s, keys, values, base,
        [&](shared_address stage) { multiply(b, stage, a, d); },
        [&](shared_address stage, int key) {
          mask.apply(b, s, d, key);
          float shrink[rows];
          NNC_UNROLL
          for (int i = 0; i < rows; ++i)
            shrink[i] = softmax.template weigh<KEYS / 4>(
                b, i, Mask::power, [&](int j) -> float & {
                  return d[i / 2][j / 2][i % 2 * 2 + j % 2];
                });
          scale(o, shrink);
          add_values(b, stage + tile::rows_bytes, d, o);
        });
    b.let_next_launch_begin();
    flash_store<tile>(b, s, at, softmax, o, y);
  }

  /// Adds the products of two fragments.
  template <class B>
  static NNC_INLINE void add(B &b, float (&d)[4], const words4 &a, uint32_t b0,
                             uint32_t b1) {
    if constexpr (is_same<T, bf16>::value)
      b.mma_bf16(d, a, b0, b1);
    else
      b.mma_f16(d, a, b0, b1);
  }

  /// Goes over the keys. For each step, calls products(stage) and then
  /// rest(stage, first key of the step), and loads the next step meanwhile.
  template <class B, class Products, class Rest>
  static NNC_INLINE void over_keys(B &b, const S &s, key_rows keys,
                                   key_rows values, shared_address base,
                                   Products products, Rest rest) {
    shared_address read = base, write = base + tile::stage_bytes;
    NNC_KEEP_LOOP
    for (int key = 0; key < s.keys; key += KEYS) {
      // The step's copies have arrived, and all warps are done with the step
      // before it, or with q, whose stage is loaded next.
      b.template wait_copies<0>();
      b.barrier();
      const bool loads = key + KEYS < s.keys;
      words4 chunks[key_rows::count];
      if (loads) {
        keys.advance();
        values.advance();
        start(b, keys, write, chunks);
        if constexpr (B::copies_are_async)
          start(b, values, write + tile::rows_bytes, chunks);
      }
      b.commit_copies();
      products(read);
      if constexpr (!B::copies_are_async)
        if (loads) {
          keys.store(b, write, chunks);
          start(b, values, write + tile::rows_bytes, chunks);
        }
      rest(read, key);
      if constexpr (!B::copies_are_async)
        if (loads)
          values.store(b, write + tile::rows_bytes, chunks);
      const shared_address next = write;
      write = read;
      read = next;
    }
  }

  /// Starts to load the next step of k or v: copies it, or loads it into
  /// registers where copies are not asynchronous.
  template <class B>
  static NNC_INLINE void start(B &b, const key_rows &from, shared_address to,
                               words4 (&chunks)[key_rows::count]) {
    if constexpr (B::copies_are_async)
      from.copy(b, to);
    else
      from.load(b, chunks);
  }

  /// Loads the fragments of the warp's queries.
  template <class B>
  static NNC_INLINE void load_queries(B &b, shared_address q, queries &a) {
    const int lane = b.thread() % warp_lanes, warp = b.thread() / warp_lanes;
    const int row = warp * tile::warp_queries + lane % 16;
    NNC_UNROLL
    for (int i = 0; i < row_tiles; ++i)
      NNC_UNROLL
    for (int c = 0; c < DIM / 16; ++c)
      a[i][c] =
          b.ldmatrix_x4(q + flash_place<tile>(row + i * 16, c * 2 + lane / 16));
  }

  /// Computes the products of queries and the step's keys. Fragments of 16 keys
  /// are loaded at a time.
  template <class B>
  static NNC_INLINE void multiply(B &b, shared_address k, const queries &a,
                                  scores &d) {
    NNC_UNROLL
    for (auto &row : d)
      NNC_UNROLL
    for (auto &eight : row)
      NNC_UNROLL
    for (float &x : eight)
      x = 0;
    const int lane = b.thread() % warp_lanes;
    NNC_UNROLL
    for (int c = 0; c < DIM / 16; ++c)
      NNC_UNROLL
    for (int j = 0; j < KEYS / 16; ++j) {
      const words4 f =
          b.ldmatrix_x4(k + flash_place<tile>(j * 16 + lane / 16 * 8 + lane % 8,
                                              c * 2 + lane / 8 % 2));
      NNC_UNROLL
      for (int i = 0; i < row_tiles; ++i) {
        add(b, d[i][j * 2], a[i][c], f.word[0], f.word[1]);
        add(b, d[i][j * 2 + 1], a[i][c], f.word[2], f.word[3]);
      }
    }
  }

  /// Scales the sums over earlier steps to the new maxima.
  static NNC_INLINE void scale(sums &o, const float (&shrink)[rows]) {
    NNC_UNROLL
    for (int row = 0; row < rows; ++row) {
      NNC_UNROLL
      for (auto &eight : o[row / 2]) {
        eight[row % 2 * 2] *= shrink[row];
        eight[row % 2 * 2 + 1] *= shrink[row];
      }
    }
  }

  /// Adds the step's values times their weights. Fragments of 16 keys and 16
  /// elements are loaded at a time, transposed.
  template <class B>
  static NNC_INLINE void add_values(B &b, shared_address v, const scores &d,
                                    sums &o) {
    const int lane = b.thread() % warp_lanes;
    NNC_UNROLL
    for (int j = 0; j < KEYS / 16; ++j) {
      words4 weights[row_tiles];
      NNC_UNROLL
      for (int i = 0; i < row_tiles; ++i)
        NNC_UNROLL
      for (int e = 0; e < 4; ++e) {
        const float(&eight)[4] = d[i][j * 2 + e / 2];
        weights[i].word[e] =
            rounded_pair<T>(b, eight[e % 2 * 2], eight[e % 2 * 2 + 1]);
      }
      NNC_UNROLL
      for (int c = 0; c < DIM / 16; ++c) {
        const words4 f = b.ldmatrix_x4_trans(
            v + flash_place<tile>(j * 16 + lane % 16, c * 2 + lane / 16));
        NNC_UNROLL
        for (int i = 0; i < row_tiles; ++i) {
          add(b, o[i][c * 2], weights[i], f.word[0], f.word[1]);
          add(b, o[i][c * 2 + 1], weights[i], f.word[2], f.word[3]);
        }
      }
    }
  }
};

/// The routines with blocks of QUERIES queries, for rows of q, k and v of up to
/// DIM elements: 32, 64, 96 or 128. QUERIES is 64, and may be 128 if DIM is 64.
template <int ARCH, class T, class S, int DIM, int QUERIES, class Epi>
struct flash_attention_from {
  static_assert(QUERIES == 64 || (QUERIES == 128 && DIM == 64),
                "the sums of a warp's queries fit into its registers");
  using kernels = kernel_list<
      flash_attention<S, DIM, QUERIES, flash_keys(DIM, QUERIES), Epi, T>>;
  static constexpr int arch = ARCH;
};
template <class S, int DIM, int QUERIES, class Epi>
using attention_bf16_sm80 =
    flash_attention_from<80, bf16, S, DIM, QUERIES, Epi>;
template <class S, int DIM, int QUERIES, class Epi>
using attention_f16_sm75 = flash_attention_from<75, f16, S, DIM, QUERIES, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_FLASH_CUH
