//===- Clusters.h - Few values for many weights ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_CLUSTERS_H
#define NNC_COMPILER_COMPRESSION_CLUSTERS_H

#include "llvm/ADT/ArrayRef.h"

namespace nnc::compression {

/// Replaces the values by at most `clusters` distinct ones so that the sum of
/// squared differences is small, by k-means in one dimension as in "Deep
/// Compression" (Han et al., 2016). `clusters` is at least 2. The initial
/// centres are spread evenly between the least and the greatest value, and
/// Lloyd's iteration moves them until no cluster changes. Then each centre of
/// an empty cluster divides the cluster with the largest error, and the
/// iteration continues. The result is the same on every machine with IEEE
/// arithmetic.
///
/// Zeros stay zero: if there are any, one centre fewer is left for the other
/// values. If there are at most `clusters` distinct values, they stay as they
/// are. The values must be finite.
///
/// If `weights` is not empty, it has a weight for each value, not negative, by
/// which the squared difference of the value is multiplied.
void shareValues(llvm::MutableArrayRef<float> values, int clusters,
                 llvm::ArrayRef<float> weights = {});

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_CLUSTERS_H
