//===- Evaluate.h - The reference evaluation of nn ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Constant folding, `nnc verify` and the tests of rewrites compute here, by the
// portable routines of runtime/ with run-time shapes: an op's arithmetic is
// written once.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_EVALUATE_EVALUATE_H
#define NNC_COMPILER_EVALUATE_EVALUATE_H

#include "dialects/nn/TensorData.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnc {

/// The result of `op` for these operands. Fails, without a diagnostic, where no
/// portable routine computes the op on its element types.
mlir::FailureOr<TensorData> evaluate(mlir::Operation *op,
                                     llvm::ArrayRef<TensorData> operands);

/// Told of every op's result as soon as it is there; false stops the
/// evaluation, which then fails.
using ResultCallback =
    llvm::function_ref<bool(mlir::Operation *op, const TensorData &result)>;

/// Runs all of `function`, whose results it appends to `results`. Values are
/// freed with their last use. Emits a diagnostic at the op that fails.
mlir::LogicalResult evaluateFunction(
    mlir::func::FuncOp function, llvm::ArrayRef<TensorData> arguments,
    llvm::SmallVectorImpl<TensorData> &results,
    ResultCallback onResult = [](mlir::Operation *, const TensorData &) {
      return true;
    });

} // namespace nnc

#endif // NNC_COMPILER_EVALUATE_EVALUATE_H
