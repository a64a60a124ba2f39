//===- OtherForms.h - Pairs of layers as one, or one as a pair ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_OTHERFORMS_H
#define NNC_COMPILER_TUNING_OTHERFORMS_H

#include "compiler/schedule/Measurements.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnc {

/// The families of layers that passes make of two (nnc-fuse-expanded,
/// nnc-fuse-separable and nnc-fuse-scaling).
llvm::ArrayRef<llvm::StringLiteral> getFusedFamilies();

/// Choices for a tuning file by which pairs that could be one layer of `family`
/// get the other form than they have in `function`, as far as their costs are
/// so close that measurements could turn them; all else gets the form that it
/// has. None where no pair is close.
std::vector<Subject> chooseOtherForms(mlir::func::FuncOp function,
                                      llvm::StringRef family);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_OTHERFORMS_H
