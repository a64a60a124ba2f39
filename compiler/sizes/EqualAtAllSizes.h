//===- EqualAtAllSizes.h - Constants that are equal at all sizes *- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_EQUALATALLSIZES_H
#define NNC_COMPILER_SIZES_EQUALATALLSIZES_H

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Makes constants that have the same type and bytes in each of the modules,
/// which are imported for several sizes, share one attribute in each module.
/// Short constants are stored in the IR, where equal ones are one attribute
/// already: without this function passes would merge computations on constants
/// at the sizes at which these are short, and not at others. The constants of
/// the modules correspond in their order; modules with different numbers of
/// constants stay as they are.
void shareEqualConstants(llvm::ArrayRef<mlir::ModuleOp> modules);

/// Gives constants that are one attribute in some of the modules, but not in
/// all of them, attributes of their own, so that each module has the same
/// weights and no pass merges computations on them at some of the sizes.
void separateConstants(llvm::ArrayRef<mlir::ModuleOp> modules);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_EQUALATALLSIZES_H
