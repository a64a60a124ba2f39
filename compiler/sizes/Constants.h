//===- Constants.h - Constants that depend on sizes -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_CONSTANTS_H
#define NNC_COMPILER_SIZES_CONSTANTS_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnc {

/// Returns true if each constant is a beginning of the first one, or the first
/// one of it.
bool areBeginnings(llvm::ArrayRef<nn::ConstantOp> ops);

/// Lets constants of `sample` that are those of `plan`, in the same order,
/// share their memory, so that several imports of a model have its weights
/// once.
void shareMemory(mlir::ModuleOp plan, mlir::ModuleOp sample);

/// Gives each operand of an op a constant of its own, in front of the op: which
/// constants are equal, and in what order they are, may depend on the sizes.
void spreadConstants(mlir::ModuleOp module);

/// Replaces constants that differ among modules of layers, which are alike but
/// for numbers, by layers that copy a part of one constant: a causal mask of
/// any length is a corner of the longest one. A few whole numbers, such as a
/// shape that the network computes with, become fields of a layer's shape.
/// Constants of which each is the beginning of the first module's stay, and
/// those that are equal in each module become one. Fails, with an error at the
/// first module's op, where a constant is nothing of this.
mlir::LogicalResult shareConstants(llvm::ArrayRef<mlir::ModuleOp> modules);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_CONSTANTS_H
