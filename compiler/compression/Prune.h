//===- Prune.h - Which weights become zero --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_PRUNE_H
#define NNC_COMPILER_COMPRESSION_PRUNE_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace nnc::compression {

/// At most `kept` of each `group` consecutive elements of a run of columns are
/// not zero. The last group of a run may have fewer elements.
struct Pattern {
  int64_t kept = 2, group = 4;
};

/// Sets the elements of least magnitude to 0. Their number is the one nearest
/// to `sparsity` times the number of all; `sparsity` is from 0 to 1. Elements
/// that are 0 already count. Of equal magnitudes the first ones go first. The
/// values are finite. Those of quantized weights, integers minus the zero
/// point, are multiplied by `scales`, one for each, before magnitudes are
/// compared.
void pruneToSparsity(llvm::MutableArrayRef<float> values, double sparsity,
                     llvm::ArrayRef<float> scales = {});

/// Sets elements to 0 until the runs, of `columns` elements each, follow the
/// pattern. Those of least magnitude go, and of equal magnitudes the first
/// ones. The values are finite, and `scales` as above.
void pruneToPattern(llvm::MutableArrayRef<float> values, int64_t columns,
                    Pattern pattern, llvm::ArrayRef<float> scales = {});

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_PRUNE_H
