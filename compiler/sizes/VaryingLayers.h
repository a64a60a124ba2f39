//===- VaryingLayers.h - One network compiled for several sizes -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A network whose inputs vary within bounds is compiled for the largest sizes;
// its layers are formed for a few others, too. Where all these networks are the
// same but for numbers, the numbers are expressions of the sizes.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_VARYINGLAYERS_H
#define NNC_COMPILER_SIZES_VARYINGLAYERS_H

#include "compiler/sizes/SizeRange.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Compares two modules of layers, each of one function, which were formed of
/// one model for different sizes. Fails, with an error at the first op of
/// `plan` whose kind or operands depend on the sizes. Constants of
/// `sample` that are equal to those of `plan` share their memory from then on.
mlir::LogicalResult compareLayers(mlir::ModuleOp plan, mlir::ModuleOp sample);

/// Marks the ops of the first of modules that compareLayers() has found alike,
/// formed for the samples of `finder`, with what differs, for routines and the
/// memory plan, and numbers them for retypeLayers(). Fails, with an error,
/// where dimensions are no expressions of the sizes.
mlir::LogicalResult markVarying(llvm::ArrayRef<mlir::ModuleOp> modules,
                                ExpressionFinder &finder);

/// Gives a copy of the planned module the shapes of `sample`, one of the
/// modules that the plan was marked with. Routines, layouts and places stay;
/// where `isLarger`, values do not fit into their places, which is not checked
/// then.
mlir::LogicalResult retypeLayers(mlir::ModuleOp planned, mlir::ModuleOp sample,
                                 bool isLarger);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_VARYINGLAYERS_H
