//===- Control.h - Functions that ops of a function run ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CONTROL_CONTROL_H
#define NNC_DIALECTS_NN_CONTROL_CONTROL_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc::nn {

/// Returns the functions that `op` runs as its branches or loop body, in order.
/// The list is empty for most ops. In a verified module every function that the
/// op names exists.
llvm::SmallVector<mlir::func::FuncOp> getBodies(mlir::Operation *op);

/// Returns `function` and all functions that its ops run, directly or
/// indirectly. Each function follows the one that runs it.
llvm::SmallVector<mlir::func::FuncOp> getAllBodies(mlir::func::FuncOp function);

/// Checks that at most one op of the module runs each function, so that each
/// value of a function needs only one place in memory. Emits an error
/// otherwise.
mlir::LogicalResult verifyBodies(mlir::ModuleOp module);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CONTROL_CONTROL_H
