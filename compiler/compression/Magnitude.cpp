//===- Magnitude.cpp - Compression by magnitude ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Magnitude.h"

#include "compiler/compression/Clusters.h"
#include "compiler/compression/IntegerClusters.h"

using namespace nnc::compression;
using namespace nnc::stored;

void nnc::compression::compressByMagnitude(llvm::MutableArrayRef<float> matrix,
                                           const MatrixShape &shape,
                                           llvm::ArrayRef<float> scales,
                                           const WeightGoal &goal) {
  if (goal.sparsity)
    pruneToSparsity(matrix, *goal.sparsity, scales);
  if (goal.pattern)
    pruneToPattern(matrix, shape.getRunColumns(), *goal.pattern, scales);
  if (goal.clusters == 0)
    return;
  forEachBlock(shape, [&](size_t start, size_t count) {
    if (scales.empty())
      shareValues(matrix.slice(start, count), goal.clusters);
    else
      shareIntegers(matrix.slice(start, count), scales.slice(start, count),
                    goal.clusters);
  });
}
