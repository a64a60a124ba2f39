//===- blocks.h - Efficiency of kernels that run in blocks of a GPU -------===//
//
// A launch consists of blocks, which the multiprocessors of a GPU share. Each
// multiprocessor holds a few blocks at a time, a wave. The estimates are cycles
// of the multiprocessor that has most blocks.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_BLOCKS_H
#define NNC_ROUTINES_CATALOGUE_BLOCKS_H

#include "runtime/counts.h"
#include "runtime/routines/attention/flash_plan.h"
#include "runtime/routines/catalogue/tile.h"
#include "runtime/routines/convolution/conv2d/grouped_plan.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/pixels_plan.h"
#include "runtime/routines/convolution/conv_transpose2d/phases_plan.h"
#include "runtime/routines/matrix/matmul/plain_gemm_plan.h"

namespace nnc {

// scripts/benchmark/block_estimates.cpp makes variables of the constants.
#ifndef NNC_BLOCK_COST_TYPE
#define NNC_BLOCK_COST_TYPE constexpr double
#endif

/// The constants of costs/blocks.inc, which says what they mean.
namespace block_costs {
#define NNC_BLOCK_COST(name, value, unit, meaning)                             \
  inline NNC_BLOCK_COST_TYPE name = value;
#include "runtime/routines/costs/blocks.inc"
} // namespace block_costs

constexpr double least(double a, double b) { return a < b ? a : b; }
constexpr double most(double a, double b) { return a < b ? b : a; }

/// A tile of a matrix product: a block computes `rows` x `columns` sums in
/// steps of `depth_bytes` bytes of each row and column, of which `stages` are
/// in shared memory, as implicit_gemm_plan.h says.
struct block_tile {
  int rows, columns, depth_bytes, stages;

  constexpr double sums() const { return double(rows) * columns; }
  constexpr double step_bytes() const {
    return double(rows + columns) * depth_bytes;
  }
  constexpr double shared_bytes() const { return stages * step_bytes(); }
  /// The sums of one warp.
  constexpr double warp_sums() const {
    return least(sums() / block_costs::least_warps,
                 block_costs::most_warp_sums);
  }
  constexpr double threads() const { return 32 * sums() / warp_sums(); }
  constexpr double registers() const {
    return block_costs::thread_registers * threads() +
           block_costs::sum_registers * sums();
  }
};

/// Number of blocks of a tile that a multiprocessor holds, 0 if its shared
/// memory is too small for one.
constexpr int resident_blocks(const core_limits &core, const block_tile &t) {
  if (t.shared_bytes() > core.shared_bytes)
    return 0;
  const double by_shared = core.shared_bytes / t.shared_bytes();
  const double by_threads = core.resident_threads / t.threads();
  const double by_registers = block_costs::block_registers / t.registers();
  const double fit = least(least(by_shared, by_threads), by_registers);
  return int(most(1, least(fit, block_costs::most_blocks)));
}

/// Cycles of a step of each of `held` blocks of a multiprocessor, while `busy`
/// multiprocessors load from the level-2 cache. Multiply-adds, copies from that
/// cache, and loads of operands from shared memory overlap, so that the longest
/// of them counts. A block also waits, for its operands and copies, which takes
/// time unless other blocks multiply meanwhile.
constexpr double cycles_of_step(const core_limits &core, const block_tile &t,
                                int held, double busy) {
  const double products = t.sums() * t.depth_bytes / core.element_bytes /
                          (core.block_rate * block_costs::tile_share);
  const double copies =
      t.step_bytes() /
      least(core.level2_rate / busy, block_costs::most_level2_bytes_per_cycle);
  // A warp of 64 x 32 sums loads 96 rows and columns, one of 32 x 32 loads 64.
  const double edges = t.warp_sums() < block_costs::most_warp_sums ? 64 : 96;
  const double operands = t.sums() / t.warp_sums() * edges * t.depth_bytes /
                          block_costs::shared_bytes_per_cycle;
  const double runs = t.depth_bytes / double(gemm_run_bytes);
  const double alone =
      most(products + block_costs::step_cycles + runs * block_costs::run_cycles,
           block_costs::copy_cycles / (t.stages - 1));
  return most(held * most(products, most(copies, operands)), alone);
}

/// Cycles of a launch of `blocks` blocks of `steps` steps each.
constexpr double tile_cycles(const core_limits &core, const block_tile &t,
                             double blocks, double steps) {
  const double busy = least(blocks, core.multiprocessors);
  // Blocks of the multiprocessor that has most of them, of which `held` run at
  // a time. The last wave may have fewer.
  const int count = ceil_div(int(blocks), int(core.multiprocessors));
  const int held = smaller(count, resident_blocks(core, t));
  const int waves = count / held, rest = count % held;
  double cycles = waves * steps * cycles_of_step(core, t, held, busy);
  if (rest > 0)
    cycles += steps * cycles_of_step(core, t, rest, busy);
  // While a block begins or ends, other blocks of its wave multiply. Where a
  // wave has one block only, the time of beginning and ending is added for each
  // wave.
  return cycles + (held > 1 ? 1 : waves) * block_costs::tile_ends_cycles;
}

/// Cycles in which blocks store the sums of `slices` slices of `tiles` tiles,
/// and the last block of each tile loads and adds them. A store, the counter
/// and a load follow one another.
constexpr double slice_cycles(const core_limits &core, const block_tile &t,
                              double tiles, int slices) {
  const double bytes = sizeof(float) * t.sums() * slices;
  const double busy = least(tiles, core.multiprocessors);
  const double waves = ceil_div(int(tiles), int(core.multiprocessors));
  return 3 * block_costs::level2_cycles + tiles * bytes / core.level2_rate +
         waves * bytes /
             least(core.level2_rate / busy,
                   block_costs::most_level2_bytes_per_cycle);
}

/// Share of the peak rate of multiply-adds that implicit_gemm.cuh reaches for
/// the work that the family counts, with tiles of `rows` x `columns` sums. It
/// is 0 if a multiprocessor has too little shared memory. What is lost are rows
/// and columns of tiles beyond the last one, terms beyond the last one of the
/// last step, multiprocessors without a block in the last wave, and what limits
/// a step. With several slices, more blocks compute fewer steps each, but their
/// sums are stored, and the last block of each tile loads and adds them.
///
/// The result counts no launch; the cost model of the GPU adds that, and
/// compares the time with that of memory.
template <class S>
constexpr double gemm_efficiency(const tile_limits &tile, const S &s, int rows,
                                 int columns, int depth_bytes, int stages,
                                 int slices) {
  const core_limits &core = tile.core;
  const block_tile t{rows, columns, depth_bytes, stages};
  const double row_count = gemm_rows(s), filters = s.k / s.groups;
  const double terms = gemm_terms(s);
  const double element_bytes = core.element_bytes > 0 ? core.element_bytes : 2;
  const double step_terms = depth_bytes / element_bytes;
  const double steps = ceil_div(gemm_terms(s), int(step_terms));
  const double tiles =
      double(ceil_div(gemm_rows(s), rows)) * ceil_div(s.k / s.groups, columns);
  // Without a GPU, as in tests of the tables, only the padding of the last
  // tiles and steps counts.
  if (core.multiprocessors == 0)
    return row_count * filters * terms /
           (tiles * t.sums() * steps * step_terms);
  if (slices > steps || resident_blocks(core, t) == 0)
    return 0;
  const double slice_steps = ceil_div(int(steps), slices);
  double cycles = tile_cycles(core, t, tiles * s.groups * slices, slice_steps);
  if (slices > 1)
    cycles += slice_cycles(core, t, tiles * s.groups, slices);
  return row_count * s.k * terms /
         (cycles * core.multiprocessors * core.block_rate);
}

/// Share of the peak rate of multiply-adds that grouped.cuh reaches. It also
/// multiplies by the zeros between merged groups, which the family does not
/// count.
template <class S>
constexpr double grouped_efficiency(const tile_limits &tile, const S &s,
                                    int rows, int columns, int depth_bytes,
                                    int stages, int slices) {
  return gemm_efficiency(tile, merge_groups(s), rows, columns, depth_bytes,
                         stages, slices) /
         merged_count(s.c / s.groups, s.c);
}

/// Share of the peak rate of multiply-adds that pixels.cuh reaches. It
/// multiplies four channels, whether they exist or not, and loads pixels into
/// registers.
template <class S>
constexpr double pixels_efficiency(tile_limits tile, const S &s, int rows,
                                   int columns, int depth_bytes, int stages,
                                   int slices) {
  const double share = block_costs::pixels_share;
  tile.core.block_rate *= share;
  return share *
         gemm_efficiency(tile, as_pixels(s), rows, columns, depth_bytes, stages,
                         slices) *
         s.c / pixel_channels;
}

/// Share of the peak rate of multiply-adds that planes.cuh reaches, which loads
/// each channel of a pixel by itself.
template <class S>
constexpr double planes_efficiency(tile_limits tile, const S &s, int rows,
                                   int columns, int depth_bytes, int stages) {
  const double share = block_costs::planes_share / block_costs::pixels_share;
  tile.core.block_rate *= share;
  return share *
         pixels_efficiency(tile, s, rows, columns, depth_bytes, stages, 1);
}

/// Share of the peak rate of multiply-adds that conv_transpose2d/phases.cuh
/// reaches for the work that the family counts, that of all taps of all pixels
/// of the input. It is estimated as one convolution with the rows of all phases
/// and the average number of taps of a phase.
template <int STRIDE, class S>
constexpr double phases_efficiency(const tile_limits &tile, const S &s,
                                   int rows, int columns, int depth_bytes,
                                   int stages) {
  phase_shape<STRIDE> all = first_phase<STRIDE>(s);
  all.n *= STRIDE * STRIDE;
  all.kw = ceil_div(s.kh * s.kw, STRIDE * STRIDE);
  all.kh = 1;
  const double counted = double(s.n) * s.h * s.w * s.kh * s.kw;
  const double computed = double(gemm_rows(all)) * all.kw;
  return gemm_efficiency(tile, all, rows, columns, depth_bytes, stages, 1) *
         counted / computed;
}

/// Share of the peak rate of multiply-adds that plain_gemm.cuh reaches with
/// chunks of 16 bytes, which are `elements` elements. `whole` says whether the
/// routine copies whole chunks only. An operand whose rows are not whole chunks
/// is loaded element by element, with instructions that delay multiply-adds.
template <class S>
constexpr double plain_gemm_efficiency(tile_limits tile, const S &s, bool whole,
                                       int elements, int rows, int columns,
                                       int depth_bytes, int stages,
                                       int slices) {
  const int count = !left_has_whole_chunks(s, elements) +
                    !right_has_whole_chunks(s, elements);
  // The kernel for parts also computes products of whole chunks, where sizes
  // vary, and loads them as parts.
  const int parts = whole || count > 0 ? count : 1;
  const double share = parts == 0   ? block_costs::whole_operands_share
                       : parts == 1 ? block_costs::one_operand_in_parts_share
                                    : block_costs::operands_in_parts_share;
  tile.core.block_rate *= share;
  return share * gemm_efficiency(tile, products_as_groups(s), rows, columns,
                                 depth_bytes, stages, slices);
}

/// Share of the peak rate of multiply-adds that attention reaches with blocks
/// of `queries` queries and rows of `dim` elements (attention/flash_plan.h).
template <class S>
constexpr double flash_efficiency(const tile_limits &tile, const S &s, int dim,
                                  int queries) {
  const core_limits &core = tile.core;
  const double blocks = double(s.n) * s.heads * ceil_div(s.queries, queries);
  double share = block_costs::attention_share * flash_share(s, dim, queries);
  if (core.multiprocessors > 0)
    share *= blocks / (ceil_div(int(blocks), int(core.multiprocessors)) *
                       core.multiprocessors);
  return share;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_BLOCKS_H
