//===- Clusters.h - Few values for many weights ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_CLUSTERS_H
#define NNC_COMPILER_COMPRESSION_CLUSTERS_H

#include "llvm/ADT/ArrayRef.h"

namespace nnc::compression {

/// Replaces the values by at most `clusters` distinct ones, 2 or more, so that
/// the sum of squared differences is small: k-means in one dimension, as in
/// "Deep Compression" (Han et al., 2016). The centres start evenly between the
/// least and the greatest value and move by Lloyd's iteration until nothing
/// changes. Then centres that nothing is near to divide the clusters with the
/// largest errors, and the iteration goes on. The result is the same on every
/// machine with IEEE arithmetic.
///
/// Zeros stay zero: where there are any, the other values get one centre less.
/// Values that are few enough stay as they are. The values are finite.
///
/// With `weights`, one for each value and none negative, the squared difference
/// of a value counts that many times.
void shareValues(llvm::MutableArrayRef<float> values, int clusters,
                 llvm::ArrayRef<float> weights = {});

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_CLUSTERS_H
