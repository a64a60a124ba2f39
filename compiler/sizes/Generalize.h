//===- Generalize.h - One program for all sizes ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_GENERALIZE_H
#define NNC_COMPILER_SIZES_GENERALIZE_H

#include "compiler/sizes/SizeRange.h"
#include "dialects/exec/Exec.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Turns `modules[0]`, a program of the exec dialect, into a program for all
/// sizes. Numbers that differ from those of the same program at the other
/// samples of `finder`, in `modules`, become expressions of the sizes
/// (exec.call's `varying`, `exec.dims`). Checks at points in the ranges that
/// routines apply and have enough scratch memory for `threads` threads. Fails
/// with an error if the programs differ in more than numbers.
mlir::LogicalResult generalize(llvm::ArrayRef<mlir::ModuleOp> modules,
                               ExpressionFinder &finder, int threads);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_GENERALIZE_H
