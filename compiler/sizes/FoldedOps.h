//===- FoldedOps.h - Ops on constants, at several sizes ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_FOLDEDOPS_H
#define NNC_COMPILER_SIZES_FOLDEDOPS_H

#include "compiler/sizes/SizeRange.h"

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

/// Marks (kVariesAttr) the slices of concatenations in imported modules that
/// lie within one operand at some of the sizes only, such as the last elements
/// of a cache and a chunk that may be shorter than the cache. No pass then
/// replaces them by a slice of that operand.
void keepSlicesAlike(llvm::ArrayRef<mlir::ModuleOp> modules,
                     ExpressionFinder &finder);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_FOLDEDOPS_H
