//===- Compare.h - Comparison of two results ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TENSORS_COMPARE_H
#define NNC_COMPILER_TOOLS_DRIVER_TENSORS_COMPARE_H

#include "compiler/tools/driver/tensors/Tensor.h"

namespace nnc::tools {

/// The result of a comparison of two tensors.
struct Difference {
  double largest = 0; ///< largest absolute error; infinite if only one is NaN
  double scale = 0;   ///< largest finite magnitude of the expected elements
  /// The numbers of all elements and of unequal ones.
  int64_t elements = 0, differing = 0;
  int64_t at = -1;                 ///< row-major index of the largest error
  double expected = 0, actual = 0; ///< elements at that index
  double meanSquare = 0;           ///< mean of the squares of the errors
  bool within = true;

  double relative() const { return scale > 0 ? largest / scale : largest; }
};

/// The errors that a tensor may have. For floats they are relative to the
/// largest finite magnitude of the expected elements, or to 1 if that is 0. For
/// integers they are relative to the difference between the largest and the
/// smallest expected element, and the bound is at least 1.
struct Tolerance {
  double largest;                  ///< bound of the largest error
  double rootMeanSquare = largest; ///< bound of the root mean square error
  /// Whether integers of 8 and 16 bits may have errors. If not, they must be
  /// equal. Elements of other types that are not floats must always be equal.
  bool ofIntegers = false;
};

/// Compares two tensors of the same type. If their shapes differ, all elements
/// count as different, and the index is -1. NaN equals NaN, and an infinity
/// equals itself.
Difference compare(const Tensor &actual, const Tensor &expected,
                   const Tolerance &tolerance);

/// Returns a row-major index as subscripts, for instance "[0][3][17]".
std::string indexText(int64_t index, const std::vector<int64_t> &shape);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TENSORS_COMPARE_H
