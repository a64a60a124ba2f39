//===- Magnitude.h - Compression by magnitude -------------------*- C++ -*-===//
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

/// The goal of compression: the number of weights of a layer that become zero,
/// and the number of distinct values that are left.
struct WeightGoal {
  std::optional<double> sparsity; ///< fraction of all weights that are zero
  std::optional<Pattern> pattern;
  /// The largest number of distinct values in a block of rows, including zero,
  /// or 0 for any number.
  int clusters = 0;
};

/// Calls `visit` with the index of the first element of each block of rows,
/// which has a table of its own, and the number of its elements.
template <class F>
void forEachBlock(const stored::MatrixShape &shape, F visit) {
  for (int64_t row = 0; row < shape.rows; row += shape.getBlockRows())
    visit(static_cast<size_t>(row * shape.columns),
          static_cast<size_t>(std::min(shape.getBlockRows(), shape.rows - row) *
                              shape.columns));
}

/// Compresses `matrix` to reach the goal: the weights of least magnitude become
/// zero, and the others the nearest of the shared values. `scales` holds the
/// scale of each integer, and is empty for floats.
void compressByMagnitude(llvm::MutableArrayRef<float> matrix,
                         const stored::MatrixShape &shape,
                         llvm::ArrayRef<float> scales, const WeightGoal &goal);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_MAGNITUDE_H
