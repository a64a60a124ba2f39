//===- FoldedOps.h - Ops on constants, at several sizes ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_FOLDEDOPS_H
#define NNC_COMPILER_SIZES_FOLDEDOPS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnc {

/// Folds the ops on constants of imported modules whose results depend on the
/// sizes, as far as shareConstants() can handle the constants that come of it
/// and `isFolded` says that passes would fold the op in each module. Other such
/// ops are computed when the network runs: they are marked (kVariesAttr), so
/// that no pass folds them at some of the sizes. The modules must be equal
/// except for numbers; otherwise nothing is changed.
void foldAlike(llvm::ArrayRef<mlir::ModuleOp> modules,
               llvm::function_ref<bool(mlir::Operation *)> isFolded);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_FOLDEDOPS_H
