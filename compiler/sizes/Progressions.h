//===- Progressions.h - Constants that count from a size --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_PROGRESSIONS_H
#define NNC_COMPILER_SIZES_PROGRESSIONS_H

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Replaces constants of imported modules, which are alike but for numbers, by
/// ops on constants that are the same in all of them, where their elements are
/// whole numbers that start from one which depends on the sizes, or have a
/// distance that does: the place of a token behind those of a cache, or the
/// first element of each row of a matrix. Such numbers are parts of a table of
/// consecutive ones, which no pass folds (kVariesAttr). Does nothing where the
/// modules are not alike.
void countFromSizes(llvm::ArrayRef<mlir::ModuleOp> modules,
                    ExpressionFinder &finder);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_PROGRESSIONS_H
