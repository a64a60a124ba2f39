//===- implicit_gemm.cuh - Convolutions and products on tensor cores ------===//
//
// y[pixel][k] = sum over taps and channels of x * w, x and y in NHWC, w packed
// as implicit_gemm_plan.h says. A matrix product is a convolution with one tap
// (matmul_as_conv2d).
//
// grid     x: tiles of ROWS output pixels by COLUMNS filters, those with the
//          same pixels side by side; y: groups; z: slices of the sums
// block    Tile::threads
// shared   Tile::shared_bytes; each of STAGES stages holds a step of
//          DEPTH_BYTES bytes of the rows of x, then the same of the filters
// regs     a thread has up to 139 for warps of 32 x 32 outputs, 128 for 64 x 32
//          (166 on sm_75), 180 for 32 x 64, and 242 for 64 x 64, which spills
//          on sm_75; test/runtime/cuda/kernels.inc lists what is checked
// arch     f16, i8 and u8 from sm_75 on, bf16 and tf32 from sm_80 on
// reads    x, w, each 16-byte aligned, and the operands of the epilogue
// writes   y and, with slices, their sums, 16-byte aligned, and a counter for
//          each tile, which is zero before and after
// error    products are exact, but floats are rounded to tf32 before, to
//          nearest with ties away from zero, an error of at most 2^-11 of each;
//          weights of floats were so rounded when they were packed; sums are
//          f32, or i32 for bytes, in the order of steps
//
// Chunk c of row r of x lies in shared memory at chunk c ^ swizzle(r), so that
// the rows that ldmatrix reads and those that a warp copies are in different
// banks. Each thread copies one chunk of a step of every few rows, so it tracks
// one tap and channel. If the channels of a group are no whole chunks, it loads
// single elements (WHOLE_CHUNKS = false), or pixels (pixels_plan.h,
// planes.cuh).
//
// With several slices, slice z adds the steps of its part and stores its sums.
// The block of a tile that arrives last, whichever it is, adds those of all
// slices in the order of z and applies the epilogue, so that results have the
// same bits in every run.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_loads.cuh"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_products.cuh"
#include "runtime/routines/convolution/conv2d/implicit_gemm_store.cuh"
#include "runtime/simd/unroll.h"

namespace nnc {

/// The kernel for tiles of outputs. `Products` is tensor_products of
/// implicit_gemm_products.cuh, or float_products of float_gemm.cuh: it states
/// the bytes of a block of packed weights, and multiplies the rows and the
/// weights of a step that are in shared memory.
template <class T, class Tile, bool WHOLE_CHUNKS, class S,
          class Products = tensor_products<T, Tile>>
struct implicit_gemm {
  using input = gemm_input<T, Tile, WHOLE_CHUNKS, S>;
  using weights = gemm_weights<Tile, Products::block_bytes>;

  /// Computes a tile and passes the sums to `output` (implicit_gemm_store.cuh),
  /// which is a sliced_sums if there are several slices.
  /// If WHOLE_CHUNKS, s.c / s.groups is a multiple of 16 / sizeof(T).
  template <class B, class Output>
  static NNC_INLINE void run(B &b, const S &s, const typename input::element *x,
                             const unsigned char *w, const Output &output,
                             int slices) {
    const int filters = s.k / s.groups, group = b.block_y();
    const int tiles_across = ceil_div(filters, Tile::columns);
    const int first_row = b.block_x() / tiles_across * Tile::rows;
    const int first_column = b.block_x() % tiles_across * Tile::columns;
    const int blocks = Products::blocks(s);
    const int steps = ceil_div(blocks, weights::step_blocks);
    const int slice = slices == 1 ? 0 : b.block_z();
    const int begin = steps * slice / slices;
    const int end = steps * (slice + 1) / slices;

    const shared_address base = b.shared_base();
    const ptrdiff_t group_bytes =
        ptrdiff_t(gemm_panels(s)) * blocks * Products::block_bytes;
    input in(s, x + group * (s.c / s.groups), first_row, b.thread(), begin);
    weights ws(w + group * group_bytes, gemm_panels(s), blocks,
               first_column / gemm_panel, b.thread(), begin);
    typename input::chunk in_chunks[input::count];
    words4 w_chunks[weights::count];

    // Start to load a step, and end that where loads are not asynchronous.
    const auto start_weights = [&](shared_address stage) {
      if constexpr (B::copies_are_async)
        ws.copy(b, stage);
      else
        ws.load(b, w_chunks);
      ws.advance();
    };
    const auto end_weights = [&](shared_address stage) {
      if constexpr (!B::copies_are_async)
        ws.store(b, stage, w_chunks);
    };
    const auto start_input = [&](shared_address stage) {
      if constexpr (copies_input<B>)
        in.copy(b, s, stage);
      else
        in.load(b, s, in_chunks);
      in.advance(s);
    };
    const auto end_input = [&](shared_address stage) {
      if constexpr (!copies_input<B>)
        in.store(b, stage, in_chunks);
    };

    // The first weights are on their way before earlier launches have ended.
    NNC_UNROLL
    for (int i = 0; i < Tile::stages - 1; ++i)
      if (begin + i < end) {
        start_weights(base + i * Tile::stage_bytes);
        end_weights(base + i * Tile::stage_bytes);
      }
    b.wait_for_inputs();
    typename Products::sums d = {};
    NNC_UNROLL
    for (int i = 0; i < Tile::stages - 1; ++i) {
      if (begin + i < end) {
        start_input(base + i * Tile::stage_bytes);
        end_input(base + i * Tile::stage_bytes);
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
      if (loads) {
        start_input(write);
        start_weights(write);
      }
      b.commit_copies();
      Products::multiply(b, read, d);
      if (loads) {
        end_input(write);
        end_weights(write);
      }
      read = next_stage<Tile>(base, read);
      write = next_stage<Tile>(base, write);
    }
    b.let_next_launch_begin();
    if constexpr (is_sliced<Output>) {
      Products::store(b, s, d, output.of_slice, first_row, first_column, group);
      const int tile = group * gemm_blocks<Tile>(s) + b.block_x();
      if (b.arrives_last(output.counters + tile, slices))
        add_slices<Tile>(b, s, output, slices, first_row, gemm_rows(s),
                         first_column, group);
    } else {
      Products::store(b, s, d, output, first_row, first_column, group);
    }
  }

private:
  template <class B>
  static constexpr bool copies_input = B::copies_are_async && WHOLE_CHUNKS;
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_CUH
