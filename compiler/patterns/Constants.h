//===- Constants.h - Reading and making constants in rewrites -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_CONSTANTS_H
#define NNC_COMPILER_PATTERNS_CONSTANTS_H

#include "dialects/nn/TensorData.h"

namespace nnc {

/// Whether `value` is a tensor of floating point numbers that nnc computes
/// with.
bool isReal(mlir::Value value);

/// The value of all elements of a constant, if they are one. Large constants
/// are not looked through.
std::optional<double> getUniformValue(mlir::Value value);

/// As above, for floating point only: rewrites of real arithmetic.
std::optional<double> getUniformReal(mlir::Value value);

/// The values of a constant that, broadcast to `type`, varies along `axis`
/// only: one of them, or one for each index of the axis.
std::optional<llvm::SmallVector<double>>
getChannelValues(mlir::Value value, mlir::RankedTensorType type, int64_t axis);

/// The axis of `type` along which a constant broadcast to it varies; -1 if it
/// is uniform or has one element, nullopt where it varies along several.
std::optional<int64_t> getVaryingAxis(mlir::Value value,
                                      mlir::RankedTensorType type);

/// A constant in front of the builder's place. `name` is for people to read.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location location,
                           const TensorData &data, llvm::StringRef name);

/// One value, as a tensor of rank 0, or one for each index of `axis`, shaped to
/// broadcast against `type` ([1,K,1,1], or [N] where the axis is the last).
mlir::Value createChannelConstant(mlir::OpBuilder &builder,
                                  mlir::Location location,
                                  mlir::RankedTensorType type, int64_t axis,
                                  llvm::ArrayRef<double> values);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_CONSTANTS_H
