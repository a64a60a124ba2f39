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

/// Returns true if the bytes of each constant are a prefix of those of the
/// first one, or the other way round.
bool areBeginnings(llvm::ArrayRef<nn::ConstantOp> ops);

/// Returns true if constants of modules that are imported for several sizes are
/// of a kind that shareConstants() handles, and if either all or none of them
/// have a single value, which passes write into expressions.
bool canShare(llvm::ArrayRef<nn::ConstantOp> ops);

/// Makes constants of `sample` that equal the corresponding constant of `plan`,
/// in the order of the modules, share its memory, so that several imports of a
/// model hold its weights once. Frees the memory that is no longer used.
void shareMemory(mlir::ModuleOp plan, mlir::ModuleOp sample);

/// Gives each constant operand of an op a constant of its own in front of the
/// op, because which constants are equal, and in what order they are, may
/// depend on the sizes.
void spreadConstants(mlir::ModuleOp module);

/// Replaces constants that differ among modules of layers. The modules must be
/// equal except for numbers. A constant that is a part of a larger one in each
/// module becomes a layer that copies that part: a causal mask of any length is
/// a corner of the longest one, for example. A few whole numbers, such as a
/// shape that the network computes with, become fields of a layer's shape.
/// Constants that are prefixes of the first module's stay, and constants that
/// are equal in each module are merged. Fails with an error at the first
/// module's op if a constant is none of these.
mlir::LogicalResult shareConstants(llvm::ArrayRef<mlir::ModuleOp> modules);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_CONSTANTS_H
