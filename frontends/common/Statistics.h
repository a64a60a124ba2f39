//===- Statistics.h - Means and variances of a tensor ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_STATISTICS_H
#define NNC_FRONTENDS_COMMON_STATISTICS_H

#include "frontends/common/LayerBuilder.h"

namespace nnc::frontends {

/// The mean and the variance of x over axes, which are kept with size 1, and x
/// - mean. The variance is the mean of (x - mean)^2: E[x^2] - E[x]^2 would lose
/// all digits where the mean is large beside the deviation.
struct Statistics {
  mlir::Value mean, centered, variance;

  Statistics(LayerBuilder &layer, mlir::Value x, llvm::ArrayRef<int64_t> axes);

  /// Returns 1 / sqrt(variance + epsilon).
  mlir::Value getInverse(LayerBuilder &layer, double epsilon) const;

  /// Returns (x - mean) / sqrt(variance + epsilon) * scale + bias.
  mlir::Value normalize(LayerBuilder &layer, double epsilon, mlir::Value scale,
                        mlir::Value bias) const;
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_STATISTICS_H
