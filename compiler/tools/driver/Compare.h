//===- Compare.h - Comparison of two results ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_COMPARE_H
#define NNC_TOOLS_DRIVER_COMPARE_H

#include "compiler/tools/driver/Tensor.h"

namespace nnc::tools {

struct Difference {
  double largest = 0; ///< largest absolute error; infinite if only one is NaN
  double scale = 0;   ///< largest finite magnitude expected
  int64_t elements = 0, differing = 0; ///< all, and those that are not equal
  int64_t at = -1;                     ///< row-major index of the largest error
  double expected = 0, actual = 0;     ///< elements at that index
  bool within = true;

  double relative() const { return scale > 0 ? largest / scale : largest; }
};

/// Compares two tensors of the same type. Those of other shapes differ in all
/// elements, at the index -1. Floats may differ by
/// `tolerance` times the largest finite magnitude expected (or times 1 if that
/// is 0); elements of other types must be equal. A NaN equals a NaN, and an
/// infinity equals itself.
Difference compare(const Tensor &actual, const Tensor &expected,
                   double tolerance);

/// Returns a row-major index as subscripts, for instance "[0][3][17]".
std::string indexText(int64_t index, const std::vector<int64_t> &shape);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_COMPARE_H
