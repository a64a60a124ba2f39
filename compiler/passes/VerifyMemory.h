//===- VerifyMemory.h - Checks the places of values -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_VERIFYMEMORY_H
#define NNC_COMPILER_PASSES_VERIFYMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc {

/// Implements the pass `nnc-verify-memory`: checks a function whose memory is
/// planned, and reports the first op that would read bytes other than those of
/// its operand's value because something has overwritten them.
mlir::LogicalResult verifyMemory(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_VERIFYMEMORY_H
