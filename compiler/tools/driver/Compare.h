//===- Compare.h - How far two results are apart --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_COMPARE_H
#define NNC_TOOLS_DRIVER_COMPARE_H

#include "compiler/tools/driver/Tensor.h"

namespace nnc::tools {

struct Difference {
  double largest = 0; ///< error of any element; infinite where one is no number
  double scale = 0;   ///< largest magnitude of the expected elements
  int64_t at = -1;    ///< row-major index of the largest error
  double expected = 0, actual = 0; ///< the elements there
  bool within = true;

  double relative() const { return scale > 0 ? largest / scale : largest; }
};

/// Compares tensors of one shape and type. Floats may differ by `tolerance`
/// times the largest magnitude expected, all else not at all. A NaN equals a
/// NaN, an infinity itself.
Difference compare(const Tensor &actual, const Tensor &expected,
                   double tolerance);

/// "[0][3][17]" for a row-major index.
std::string indexText(int64_t index, const std::vector<int64_t> &shape);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_COMPARE_H
