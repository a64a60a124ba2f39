//===- IntegerClusters.h - Few integers for many weights ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_INTEGERCLUSTERS_H
#define NNC_COMPILER_COMPRESSION_INTEGERCLUSTERS_H

#include "llvm/ADT/ArrayRef.h"

namespace nnc::compression {

/// Replaces integers by at most `clusters` distinct ones within their range;
/// `clusters` is at least 2. The sum of squared differences, each multiplied by
/// the square of the element's scale, is the least possible: k-means in one
/// dimension is solved exactly, as there are few distinct integers. The values
/// are quantized weights minus their zero point, so that the sum is the squared
/// error of the real numbers that they represent.
///
/// Zeros stay zero: if there are any, zero is one of the new integers, and
/// other elements may become zero, too. If there are at most `clusters`
/// distinct integers, they stay as they are. `scales` has a finite scale for
/// each value.
void shareIntegers(llvm::MutableArrayRef<float> values,
                   llvm::ArrayRef<float> scales, int clusters);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_INTEGERCLUSTERS_H
