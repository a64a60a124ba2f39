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

/// A sparsity pattern: at most `kept` of each `group` consecutive elements of a
/// run of columns are not zero. The last group of a run may have fewer
/// elements.
struct Pattern {
  int64_t kept = 2, group = 4;
};

/// Sets the elements of least magnitude to 0, so that the number of zeros is
/// nearest to `sparsity`, from 0 to 1, times the number of elements. Elements
/// that are 0 already count. Of elements with equal magnitudes, the first ones
/// become 0. The values must be finite. For quantized weights, integers minus
/// the zero point, `scales` has a factor for each element by which its
/// magnitude is multiplied.
void pruneToSparsity(llvm::MutableArrayRef<float> values, double sparsity,
                     llvm::ArrayRef<float> scales = {});

/// Sets elements to 0 until the runs, of `columns` elements each, follow the
/// pattern. In each group, the elements of least magnitude become 0, and of
/// equal ones the first. The values must be finite; `scales` is as in
/// pruneToSparsity().
void pruneToPattern(llvm::MutableArrayRef<float> values, int64_t columns,
                    Pattern pattern, llvm::ArrayRef<float> scales = {});

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_PRUNE_H
