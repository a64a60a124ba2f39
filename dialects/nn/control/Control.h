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

/// Returns the functions that `op` runs, in order; none for most ops. All of
/// them are there if the module has been verified.
llvm::SmallVector<mlir::func::FuncOp> getBodies(mlir::Operation *op);

/// Returns `function` and the functions that it runs, directly or not, each
/// behind the one that runs it.
llvm::SmallVector<mlir::func::FuncOp> getAllBodies(mlir::func::FuncOp function);

/// Checks that no function of the module is run in two places, so that each of
/// its values has one place in memory. Emits an error where that is not so.
mlir::LogicalResult verifyBodies(mlir::ModuleOp module);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CONTROL_CONTROL_H
