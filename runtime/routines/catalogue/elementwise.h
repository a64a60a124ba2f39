//===- elementwise.h - Efficiency of elementwise layers -------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_ELEMENTWISE_H
#define NNC_ROUTINES_CATALOGUE_ELEMENTWISE_H

#include "runtime/routines/catalogue/tile.h"

namespace nnc {

/// Efficiency of elementwise routines with vectors. They compute rows along the
/// last axis vector by vector if every input is contiguous or constant there,
/// and number by number otherwise.
template <class S>
constexpr double elementwise_efficiency(tile_limits t, const S &s) {
  const routine_costs &cost = *t.cost;
  const int width = s.rank > 0 ? s.dims[s.rank - 1] : 1;
  bool whole = true;
  for (int i = 0; width > 1 && i < 8; ++i) {
    const int stride = s.strides[i][s.rank - 1];
    whole = whole && (stride == 0 || stride == 1);
  }
  const double remainder = cost.element_remainder_cycles +
                           cost.element_remainder_issues / t.core.vector_rate;
  const double vector = cost.element_vector_cycles +
                        cost.element_vector_issues / t.core.vector_rate;
  const double cycles = whole ? width / t.lanes * vector +
                                    (width % t.lanes ? remainder : 0.0) +
                                    cost.element_row_cycles
                              : cost.element_single_cycles * width;
  return width / (t.core.vector_rate * t.lanes * cycles);
}

/// Efficiency of the portable elementwise routine. It computes number by
/// number, unless the C++ compiler makes vectors of a long row.
template <class S>
constexpr double elementwise_portable_efficiency(tile_limits t, const S &s) {
  const routine_costs &cost = *t.cost;
  const int width = s.rank > 0 ? s.dims[s.rank - 1] : 1;
  return width >= cost.portable_long_width   ? cost.portable_long_share
         : width > cost.portable_short_width ? cost.portable_share
                                             : cost.portable_short_share;
}

} // namespace nnc

#endif // NNC_ROUTINES_CATALOGUE_ELEMENTWISE_H
