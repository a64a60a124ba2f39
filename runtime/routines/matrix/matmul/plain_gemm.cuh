//===- plain_gemm.cuh - Products of two row-major matrices ----------------===//
//
// y[i][m][n] = epi(sum over k of a[i][m][k] * b[i][k][n]) for each product i of
// a batch, all row-major; with transpose_a a is stored [k][m], with transpose_b
// b is stored [n][k]. Halves, bf16 and, rounded to tf32, floats on tensor
// cores, and floats by fused multiply-adds.
//
// grid     plain_gemm_grid: x: tiles of ROWS x COLUMNS results, those with the
//          same rows side by side; y: products; z: slices of the sums
// block    Tile::threads
// shared   Tile::shared_bytes; each of STAGES stages holds a step of
//          DEPTH_BYTES bytes of terms of the rows of a, then of the columns of
//          b
// regs     see test/runtime/cuda/product_kernels.inc for what is checked
// arch     from sm_75 on, bf16 and tf32 from sm_80 on; from there on it copies
//          asynchronously
// reads    a and b, each 16-byte aligned, and the operands of the epilogue
// writes   y and, with slices, their sums, 16-byte aligned, and a counter for
//          each tile, which is zero before and after
// error    products of 16-bit floats and of tf32 are exact, to which floats are
//          rounded as in implicit_gemm.cuh; sums are f32, in the order of steps
//
// A tile lies in shared memory as its matrix does in global memory, by rows or
// by terms, so that both are read and written in chunks of 16 bytes.
// Slices are those of implicit_gemm.cuh.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_CUH
#define NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm.cuh"
#include "runtime/routines/matrix/matmul/plain_gemm_loads.cuh"
#include "runtime/routines/matrix/matmul/plain_gemm_plan.h"
#include "runtime/routines/matrix/matmul/plain_gemm_products.cuh"
#include "runtime/routines/shapes/policy.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// The kernel for tiles of results of one order of the operands. With WHOLE,
/// all rows of both operands in memory are whole chunks; with TF32, floats are
/// multiplied by tensor cores.
template <class T, class Tile, bool WHOLE, bool TRANSPOSE_A, bool TRANSPOSE_B,
          bool TF32>
struct plain_gemm {
  static constexpr tile_row of_term =
      TF32 ? tile_row::of_word_term : tile_row::of_term;
  static constexpr tile_row left = TRANSPOSE_A ? of_term : tile_row::of_left;
  static constexpr tile_row right = TRANSPOSE_B ? tile_row::of_right : of_term;
  using products = conditional_t<is_same<T, float>::value && !TF32,
                                 plain_float_products<Tile, left, right>,
                                 plain_tensor_products<T, Tile, left, right>>;
  using left_loads =
      tile_loads<T, left, Tile::rows, Tile::depth_bytes, Tile::threads, WHOLE>;
  using right_loads = tile_loads<T, right, Tile::columns, Tile::depth_bytes,
                                 Tile::threads, WHOLE>;

  /// Computes a tile and passes the sums to `output` (implicit_gemm_store.cuh).
  template <class B, class S, class Output>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const T *w,
                             const Output &output, int slices) {
    const int tiles_across = ceil_div(s.n, Tile::columns);
    const int first_row = b.block_x() / tiles_across * Tile::rows;
    const int first_column = b.block_x() % tiles_across * Tile::columns;
    const int steps = ceil_div(s.k, left_loads::depth);
    const int begin = steps * b.block_z() / slices;
    const int end = steps * (b.block_z() + 1) / slices;
    const ptrdiff_t product = b.block_y();

    const shared_address base = b.shared_base();
    left_loads a(x + product * s.a_batch_stride, s.m, s.k, first_row, begin,
                 b.thread(), left_has_whole_chunks(s, left_loads::elements));
    right_loads c(w + product * s.b_batch_stride, s.n, s.k, first_column, begin,
                  b.thread(), right_has_whole_chunks(s, right_loads::elements));
    words4 a_chunks[left_loads::count], c_chunks[right_loads::count];

    // Start to load a step, and end that where loads are not asynchronous.
    const auto start = [&](shared_address stage) {
      if constexpr (copies<B>) {
        a.copy(b, stage);
        c.copy(b, stage + Tile::input_bytes);
      } else {
        a.load(b, a_chunks);
        c.load(b, c_chunks);
      }
      a.advance();
      c.advance();
    };
    const auto finish = [&](shared_address stage) {
      if constexpr (!copies<B>) {
        a.store(b, stage, a_chunks);
        c.store(b, stage + Tile::input_bytes, c_chunks);
      }
    };

    b.wait_for_inputs();
    typename products::sums d = {};
    NNC_UNROLL
    for (int i = 0; i < Tile::stages - 1; ++i) {
      if (begin + i < end) {
        start(base + i * Tile::stage_bytes);
        finish(base + i * Tile::stage_bytes);
      }
      b.commit_copies();
    }
    shared_address read = base;
    shared_address write = base + (Tile::stages - 1) * Tile::stage_bytes;
    NNC_KEEP_LOOP
    for (int step = begin; step < end; ++step) {
      // The step's copies have arrived, and all warps are done with the step
      // before it, whose stage is loaded next.
      b.template wait_copies<Tile::stages - 2>();
      b.barrier();
      const bool loads = step + Tile::stages - 1 < end;
      if (loads)
        start(write);
      b.commit_copies();
      products::multiply(b, read, read + Tile::input_bytes, d);
      if (loads)
        finish(write);
      read = next_stage<Tile>(base, read);
      write = next_stage<Tile>(base, write);
    }
    b.let_next_launch_begin();
    const matmul_as_conv2d all = products_as_rows(s);
    const int before = b.block_y() * s.m; // rows of earlier products
    if constexpr (is_sliced<Output>) {
      products::store(b, all, d, output.of_slice, first_row, first_column, s.m,
                      before);
      const int tile =
          b.block_y() * ceil_div(s.m, Tile::rows) * tiles_across + b.block_x();
      if (b.arrives_last(output.counters + tile, slices))
        add_slices<Tile>(b, all, output, slices, before + first_row,
                         before + s.m, first_column, 0);
    } else {
      products::store(b, all, d, output, first_row, first_column, s.m, before);
    }
  }

private:
  template <class B>
  static constexpr bool copies = B::copies_are_async && WHOLE;
};

/// Computes the tiles.
template <class S, class Tile, bool WHOLE, int SLICES, class Epi,
          bool TF32 = false>
struct plain_gemm_tiles : plain_gemm_counters<S, Tile, SLICES> {
  static constexpr int threads = Tile::threads,
                       shared_bytes = Tile::shared_bytes;
  NNC_FN static constexpr grid_size grid(const S &s) {
    return plain_gemm_grid(s, Tile::rows, Tile::columns, SLICES);
  }
  template <class B, class T, class Y>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const T *w, Y *y,
                             const Epi &epi) {
    static_assert(SLICES == 1, "slices need scratch memory");
    multiply(b, s, x, w, finished_sums<Y, Epi>{y, epi});
  }
  template <class B, class T, class Y>
  static NNC_INLINE void run(B &b, const S &s, const T *x, const T *w, Y *y,
                             unsigned char *scratch, const Epi &epi,
                             uint32_t *counters) {
    using sum = typename gemm_product<T>::sum;
    if constexpr (SLICES == 1)
      run(b, s, x, w, y, epi);
    else
      multiply(b, s, x, w,
               sliced_sums<sum, finished_sums<Y, Epi>>{
                   {reinterpret_cast<sum *>(scratch)}, counters, {y, epi}});
  }

private:
  template <class B, class T, class Output>
  static NNC_INLINE void multiply(B &b, const S &s, const T *x, const T *w,
                                  const Output &output) {
    const auto tiles = [&](auto transpose_a, auto transpose_b) {
      plain_gemm<T, Tile, WHOLE, transpose_a, transpose_b, TF32>::run(
          b, s, x, w, output, SLICES);
    };
    using yes = bool_constant<true>;
    using no = bool_constant<false>;
    if constexpr (has_constant_order<S>) {
      tiles(bool_constant < S::transpose_a != 0 > {},
            bool_constant < S::transpose_b != 0 > {});
    } else if (s.transpose_a) {
      if (s.transpose_b)
        tiles(yes{}, yes{});
      else
        tiles(yes{}, no{});
    } else {
      if (s.transpose_b)
        tiles(no{}, yes{});
      else
        tiles(no{}, no{});
    }
  }
  /// True if the order of the operands is a constant of the shape.
  template <class R>
  static constexpr bool has_constant_order =
      !is_member_pointer<decltype(&R::transpose_a)> &&
      !is_member_pointer<decltype(&R::transpose_b)>;
};

/// The routines. With one slice they use no scratch memory, and else
/// plain_gemm_scratch(s, SLICES) bytes. In those with `whole` in their names
/// all rows of both operands in memory are whole chunks of 16 bytes.
template <int ARCH, bool WHOLE, class S, int ROWS, int COLUMNS, int DEPTH,
          int WARP_ROWS, int WARP_COLUMNS, int STAGES, int SLICES, class Epi,
          bool TF32 = false>
struct matmul_plain_gemm {
  static constexpr int arch = ARCH;
  using tile = gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>;
  using kernels =
      kernel_list<plain_gemm_tiles<S, tile, WHOLE, SLICES, Epi, TF32>>;
};

template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_bf16_plain_parts_sm80 =
    matmul_plain_gemm<80, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                      WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_bf16_plain_whole_sm80 =
    matmul_plain_gemm<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                      WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_tf32_plain_parts_sm80 =
    matmul_plain_gemm<80, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                      WARP_COLUMNS, STAGES, SLICES, Epi, true>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_tf32_plain_whole_sm80 =
    matmul_plain_gemm<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                      WARP_COLUMNS, STAGES, SLICES, Epi, true>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_f16_plain_whole_sm75 =
    matmul_plain_gemm<75, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                      WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_f16_plain_parts_sm75 =
    matmul_plain_gemm<75, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                      WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS,
          int WARP_COLUMNS, int STAGES, int SLICES, class Epi>
using matmul_f16_plain_whole_sm80 =
    matmul_plain_gemm<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS,
                      WARP_COLUMNS, STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          int SLICES, class Epi>
using matmul_f32_plain_whole_sm75 =
    matmul_plain_gemm<75, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, gemm_panel,
                      STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          int SLICES, class Epi>
using matmul_f32_plain_parts_sm75 =
    matmul_plain_gemm<75, false, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, gemm_panel,
                      STAGES, SLICES, Epi>;
template <class S, int ROWS, int COLUMNS, int DEPTH, int WARP_ROWS, int STAGES,
          int SLICES, class Epi>
using matmul_f32_plain_whole_sm80 =
    matmul_plain_gemm<80, true, S, ROWS, COLUMNS, DEPTH, WARP_ROWS, gemm_panel,
                      STAGES, SLICES, Epi>;

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PLAIN_GEMM_CUH
