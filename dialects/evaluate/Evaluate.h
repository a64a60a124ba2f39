//===- Evaluate.h - Reference evaluation of nn ops ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The reference evaluator of nn ops, used by constant folding, by `nnc verify`
// and by the tests of rewrites. It calls the portable routines of runtime/ with
// shapes given at run time, so that the arithmetic of an op is written only
// once.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EVALUATE_EVALUATE_H
#define NNC_DIALECTS_EVALUATE_EVALUATE_H

#include "dialects/nn/Nn.h"
#include "dialects/nn/tensors/TensorData.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnc {

/// Computes the result of `op` for these operands. Fails, without a diagnostic,
/// if no portable routine computes the op on its element types.
mlir::FailureOr<TensorData> evaluate(mlir::Operation *op,
                                     llvm::ArrayRef<TensorData> operands);

/// Callback that is invoked with the result of every op as soon as it is
/// computed. If it returns false, the evaluation stops and fails.
using ResultCallback =
    llvm::function_ref<bool(mlir::Operation *op, const TensorData &result)>;

/// Callback that computes the result of a custom operator, which emitted code
/// computes with the user's C function.
using CustomCallback = llvm::function_ref<mlir::FailureOr<TensorData>(
    nn::CustomOp custom, llvm::ArrayRef<TensorData> operands)>;

/// Evaluates all ops of `function` and appends the function's results to
/// `results`. The callback is not invoked for ops in functions that the ops of
/// `function` run, such as the branches of an nn.if. Each intermediate value is
/// freed after its last use. On failure a diagnostic is emitted at the op that
/// could not be evaluated.
mlir::LogicalResult evaluateFunction(
    mlir::func::FuncOp function, llvm::ArrayRef<TensorData> arguments,
    llvm::SmallVectorImpl<TensorData> &results,
    ResultCallback onResult = [](mlir::Operation *,
                                 const TensorData &) { return true; },
    CustomCallback customs = [](nn::CustomOp, llvm::ArrayRef<TensorData>)
        -> mlir::FailureOr<TensorData> { return mlir::failure(); });

} // namespace nnc

#endif // NNC_DIALECTS_EVALUATE_EVALUATE_H
