//===- VerifyMemory.h - Checks the places of values -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_VERIFYMEMORY_H
#define NNC_COMPILER_PASSES_VERIFYMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc {

/// What the pass `nnc-verify-memory` checks: reports the first op of a planned
/// function that would read something else than the value of its operand.
mlir::LogicalResult verifyMemory(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_PASSES_VERIFYMEMORY_H
