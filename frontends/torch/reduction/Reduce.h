//===- Reduce.h - Reductions ----------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_REDUCTION_REDUCE_H
#define NNC_FRONTENDS_TORCH_REDUCTION_REDUCE_H

#include "frontends/torch/graph/Node.h"

namespace nnc::torch {

/// Returns the elements of `x` combined along `axes`, which are ascending, as
/// `kind` says. With `keepsAxes` these axes have size 1 in the result. Without
/// axes the result is `x`.
mlir::Value reduce(Node &node, nn::ReduceKind kind, mlir::Value x,
                   llvm::ArrayRef<int64_t> axes, bool keepsAxes);

/// Returns the norm of order `order` of the floats `x` along `axes`.
mlir::Value computeNorm(Node &node, mlir::Value x, double order,
                        llvm::ArrayRef<int64_t> axes, bool keepsAxes);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_REDUCTION_REDUCE_H
