//===- VaryingLayers.h - One network compiled for several sizes -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A network whose input sizes vary within bounds is compiled for the largest
// sizes. Its layers are formed for a few other sizes, too. If all these
// networks are equal except for numbers, the numbers are expressions of the
// sizes.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_VARYINGLAYERS_H
#define NNC_COMPILER_SIZES_VARYINGLAYERS_H

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Compares two modules of layers that were formed from one model at different
/// sizes. Fails with an error at the first op of `plan` whose kind or operands
/// depend on the sizes. Constants of `sample` that equal those of `plan` share
/// their memory afterwards.
mlir::LogicalResult compareLayers(mlir::ModuleOp plan, mlir::ModuleOp sample);

/// Marks the ops of `modules[0]` whose numbers differ among the modules with
/// the differences, for the choice of routines and the memory plan, and numbers
/// all ops for retypeLayers(). The modules were formed at the samples of
/// `finder` and must have passed compareLayers(). Fails with an error if a
/// field of a layer's shape is no expression of the sizes.
mlir::LogicalResult markVarying(llvm::ArrayRef<mlir::ModuleOp> modules,
                                ExpressionFinder &finder);

/// Gives `planned`, a copy of the planned module, the shapes of `sample`, one
/// of the modules that markVarying() compared. Routines, layouts and places
/// stay. If `isLarger`, values may not fit into their places, and this is not
/// checked.
mlir::LogicalResult retypeLayers(mlir::ModuleOp planned, mlir::ModuleOp sample,
                                 bool isLarger);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_VARYINGLAYERS_H
