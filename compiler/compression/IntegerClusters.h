//===- IntegerClusters.h - Few integers for many weights ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_INTEGERCLUSTERS_H
#define NNC_COMPILER_COMPRESSION_INTEGERCLUSTERS_H

#include "llvm/ADT/ArrayRef.h"

namespace nnc::compression {

/// Replaces integers by at most `clusters` distinct ones, 2 or more, from their
/// own range. The sum of squared differences, each multiplied by the square of
/// the element's scale, is the least that so many integers reach: k-means in
/// one dimension, solved exactly, as there are only few distinct integers. The
/// values are those of quantized weights minus their zero point, so that the
/// sum is the squared error of the numbers that they stand for.
///
/// Zeros stay zero: where there are any, zero is one of the integers, and other
/// elements may become zero, too. Integers that are few enough stay as they
/// are. There is a finite scale for each value.
void shareIntegers(llvm::MutableArrayRef<float> values,
                   llvm::ArrayRef<float> scales, int clusters);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_INTEGERCLUSTERS_H
