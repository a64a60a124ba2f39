//===- Compare.h - Comparison of two results ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TENSORS_COMPARE_H
#define NNC_COMPILER_TOOLS_DRIVER_TENSORS_COMPARE_H

#include "compiler/tools/driver/tensors/Tensor.h"

namespace nnc::tools {

struct Difference {
  double largest = 0; ///< largest absolute error; infinite if only one is NaN
  double scale = 0;   ///< largest finite magnitude expected
  int64_t elements = 0, differing = 0; ///< all, and those that are not equal
  int64_t at = -1;                     ///< row-major index of the largest error
  double expected = 0, actual = 0;     ///< elements at that index
  double meanSquare = 0;               ///< mean of the squares of the errors
  bool within = true;

  double relative() const { return scale > 0 ? largest / scale : largest; }
};

/// The errors that a tensor may have. For floats they are shares of the largest
/// finite magnitude expected, or of 1 if that is 0; for integers shares of the
/// difference between the largest and the smallest expected, and at least 1.
struct Tolerance {
  double largest;                  ///< of the largest error
  double rootMeanSquare = largest; ///< of the root mean square of all errors
  /// Whether integers of 8 and of 16 bits may have errors; if not, they have to
  /// be equal, as elements of all other types.
  bool ofIntegers = false;
};

/// Compares two tensors of the same type. Those of other shapes differ in all
/// elements, at the index -1. A NaN equals a NaN, and an infinity equals
/// itself.
Difference compare(const Tensor &actual, const Tensor &expected,
                   const Tolerance &tolerance);

/// Returns a row-major index as subscripts, for instance "[0][3][17]".
std::string indexText(int64_t index, const std::vector<int64_t> &shape);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TENSORS_COMPARE_H
