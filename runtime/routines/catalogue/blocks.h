//===- blocks.h - Efficiency of kernels on blocks of threads --------------===//
#ifndef NNC_ROUTINES_CATALOGUE_BLOCKS_H
#define NNC_ROUTINES_CATALOGUE_BLOCKS_H

#include "runtime/routines/catalogue/tile.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"

namespace nnc {

template <class S>
double gemm_efficiency(const tile_limits &, const S &s, int rows, int columns,
                       int, int, int slices) {
  const double padded = double(ceil_div(gemm_rows(s), rows)) * rows *
                        ceil_div(s.k, columns) * columns;
  const double blocks = padded / (double(rows) * columns) * slices;
  return 20 * double(gemm_rows(s)) * s.k / padded *
         (blocks < 108 ? blocks / 108 : 1) * rows * columns / (rows + columns) /
         128;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_BLOCKS_H
