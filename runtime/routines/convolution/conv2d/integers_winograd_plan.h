//===- integers_winograd_plan.h - Tiles of Winograd's method on integers --===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_WINOGRAD_PLAN_H
#define NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_WINOGRAD_PLAN_H

#include "runtime/counts.h"

#include <stddef.h>

namespace nnc {

/// Chunks of tiles of 2 x 2 outputs. The input of a chunk is transformed to
/// scratch, where all output channels read it.
struct integers_winograd_plan {
  static constexpr int points = 16; ///< of a tile

  int tile_rows, tile_columns; ///< tiles of an image
  int chunk;                   ///< tiles of a chunk
  int chunks;                  ///< chunks of an image
  int channels;                ///< input channels, in whole blocks
  int out_blocks;              ///< blocks of output channels
  ptrdiff_t input;             ///< numbers of 16 bits of a transformed chunk
  ptrdiff_t sums;              ///< sums of a chunk for one run of blocks

  constexpr ptrdiff_t thread_scratch() const {
    return whole_lines(2 * input) + whole_lines(4 * sums);
  }
  constexpr ptrdiff_t scratch(int threads) const {
    return thread_scratch() * threads;
  }
};

/// Plan for blocks of W channels and register tiles of P tiles by B blocks.
template <class S>
constexpr integers_winograd_plan plan_integers_winograd(const S &s, int W,
                                                        int P, int B) {
  // Bytes of a transformed chunk that the second-level cache holds beside the
  // weights.
  constexpr int most = 192 * 1024;
  integers_winograd_plan p{};
  p.tile_rows = ceil_div(s.oh, 2);
  p.tile_columns = ceil_div(s.ow, 2);
  p.channels = ceil_div(s.c, W) * W;
  p.out_blocks = ceil_div(s.k, W);
  const int tiles = p.tile_rows * p.tile_columns;
  const int fit = larger(P, most / (2 * p.points * p.channels));
  p.chunks = ceil_div(tiles, fit);
  p.chunk = smaller(tiles, ceil_div(ceil_div(tiles, p.chunks), P) * P);
  p.chunks = ceil_div(tiles, p.chunk);
  p.input = ptrdiff_t(p.points) * p.chunk * p.channels;
  p.sums = ptrdiff_t(p.points) * p.chunk * B * W;
  return p;
}

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_INTEGERS_WINOGRAD_PLAN_H
