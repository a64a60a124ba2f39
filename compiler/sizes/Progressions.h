//===- Progressions.h - Progressions that depend on the sizes ---*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_PROGRESSIONS_H
#define NNC_COMPILER_SIZES_PROGRESSIONS_H

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Returns the ops of modules with one function each that are equal except for
/// numbers: a list for each module. The result is empty for other modules.
std::vector<std::vector<mlir::Operation *>>
listAlike(llvm::ArrayRef<mlir::ModuleOp> modules);

/// Replaces constants of imported modules that are arithmetic progressions of
/// whole numbers whose first number or step depends on the sizes, such as the
/// positions of tokens behind a cache or the first element of each row of a
/// matrix. They become ops on constants that are equal in all modules: slices
/// of a table of consecutive numbers, which no pass folds (kVariesAttr). The
/// modules must be equal except for numbers; otherwise nothing is changed.
void countFromSizes(llvm::ArrayRef<mlir::ModuleOp> modules,
                    ExpressionFinder &finder);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_PROGRESSIONS_H
