//===- Magnitude.h - Compression that looks at weights alone ----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_MAGNITUDE_H
#define NNC_COMPILER_COMPRESSION_MAGNITUDE_H

#include "compiler/compression/Prune.h"
#include "dialects/nn/stored_weights/forms/Codebook.h"

#include <optional>

namespace nnc::compression {

/// The number of weights of a layer that become zero, and of values that are
/// left.
struct WeightGoal {
  std::optional<double> sparsity; ///< share of all weights
  std::optional<Pattern> pattern;
  /// Most values of a block of rows, of which zero is one, or 0 for any number.
  int clusters = 0;
};

/// Calls `visit` with the first element of each block of rows that has a table
/// of its own, and the number of its elements.
template <class F>
void forEachBlock(const stored::MatrixShape &shape, F visit) {
  for (int64_t row = 0; row < shape.rows; row += shape.getBlockRows())
    visit(static_cast<size_t>(row * shape.columns),
          static_cast<size_t>(std::min(shape.getBlockRows(), shape.rows - row) *
                              shape.columns));
}

/// Reaches the goal by zeros for the weights of least magnitude, and values
/// that are near to the others. `scales` is empty for floats, and else has the
/// scale of each integer.
void compressByMagnitude(llvm::MutableArrayRef<float> matrix,
                         const stored::MatrixShape &shape,
                         llvm::ArrayRef<float> scales, const WeightGoal &goal);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_MAGNITUDE_H
