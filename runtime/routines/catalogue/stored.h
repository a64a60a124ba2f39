//===- stored.h - Efficiency of compressed weights ------------------------===//
//
// Decoders are scalar code, whose time is proportional to its number of
// instructions. These were counted for Cortex-M4 (nnc bench
// --target=cortex-m4); x86 compilers emit about as many.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_STORED_H
#define NNC_ROUTINES_CATALOGUE_STORED_H

#include "runtime/routines/catalogue/tile.h"
#include "runtime/routines/stored_weights/stored_conv2d/plan.h"
#include "runtime/routines/stored_weights/stored_matmul/plan.h"

namespace nnc {

/// Instructions per element or, for forms with entries, per entry.
template <class S> constexpr double stored_instructions(const S &s) {
  return s.form == decode_entries           ? 12
         : s.form == decode_literals        ? 9
         : s.form == decode_pattern         ? (decode_keeps_values(s) ? 12 : 24)
         : s.form == decode_huffman_entries ? 22
         : s.form == decode_huffman         ? 22
         : s.value_bits == 4                ? 2.5
                                            : 5;
}

/// Scalar instructions that a core executes per cycle: several if it has vector
/// units or units for several multiply-adds.
constexpr double scalar_rate(const core_limits &core) {
  return core.rate > 2 ? 4 : 1;
}

/// Efficiency of the routines in decode/.
template <class S>
constexpr double decode_efficiency(const core_limits &core, const S &s) {
  return scalar_rate(core) / stored_instructions(s) / core.rate;
}

/// Fraction of its speed that stored_matmul/entries.h reaches if it has to find
/// the ends of rows within a block.
inline constexpr double stored_ends_share = 0.6;

/// Efficiency of stored_matmul/entries.h with vectors of W rows of x. Each
/// entry is read once per vector.
template <class S>
constexpr double stored_entries_efficiency(const core_limits &core, const S &s,
                                           int W) {
  const double share = stored_block_rows(s) > 1 ? stored_ends_share : 1;
  return share * decode_efficiency(core, s) * s.m / ceil_div(s.m, W);
}

/// Efficiency of stored_matmul/pattern.h with vectors. Each vector takes a
/// multiply-add and the instructions that move indices to its lanes and select
/// floats by them. With these figures the estimates of 4096 x 4096 weights on a
/// Zen 4 with AVX-512 are within a fifth of what nnc bench measures: 2:4 1.7
/// and 1.9 ms, 1:4 0.93 and 0.98, 4:8 1.8 and 2.2.
template <class S>
constexpr double stored_pattern_efficiency(const core_limits &, const S &s) {
  return s.block == 2 * s.gaps ? 0.3 : 0.2;
}

/// Efficiency of stored_matmul/tile.h, which multiplies a tile by stored_strip
/// rows of x, in vectors or with `scalar` instructions per weight.
template <class S>
constexpr double stored_tile_efficiency(const core_limits &core, const S &s,
                                        double scalar = 0) {
  const double decode =
      stored_instructions(s) * ceil_div(s.m, stored_strip) / scalar_rate(core);
  const double multiply =
      scalar > 0 ? scalar / scalar_rate(core) : 2 / core.rate;
  return s.m / (decode + s.m * multiply) / core.rate;
}

/// Scalar instructions with which conv2d/dsp.h copies an element of a window to
/// a column.
inline constexpr double gather_instructions = 1.25;

/// Efficiency of stored_conv2d/strips.h. `conv` is the efficiency of the
/// convolution with decoded filters. Each strip gathers the windows again, with
/// `gather` instructions per element.
template <class S>
constexpr double stored_strips_efficiency(const core_limits &core, const S &s,
                                          double conv, double gather = 0) {
  const double products = double(s.elements) * s.n * s.oh * s.ow;
  const double scalar = stored_instructions(s) * decode_steps(s) / products +
                        gather / smaller(s.strip, s.k);
  return 1 / (1 / conv + scalar * core.rate / scalar_rate(core));
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_STORED_H
