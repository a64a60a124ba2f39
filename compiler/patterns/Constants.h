//===- Constants.h - Reading and making constants in rewrites -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PATTERNS_CONSTANTS_H
#define NNC_COMPILER_PATTERNS_CONSTANTS_H

#include "dialects/nn/tensors/TensorData.h"

namespace nnc {

/// Returns true if `value` is a tensor of a floating-point type that nnc
/// computes with.
bool isReal(mlir::Value value);

/// Returns the common value of all elements of a constant, which may be
/// repeated, or nullopt if they differ. Large constants are not searched and
/// give nullopt.
std::optional<double> getUniformValue(mlir::Value value);

/// Like getUniformValue, but for floating-point constants only; for rewrites
/// that hold in real arithmetic.
std::optional<double> getUniformReal(mlir::Value value);

/// Returns the values of a constant that, broadcast to `type`, varies along
/// `axis` only: a single value, or one for each index of the axis. Otherwise
/// nullopt.
std::optional<llvm::SmallVector<double>>
getChannelValues(mlir::Value value, mlir::RankedTensorType type, int64_t axis);

/// Returns the axis of `type` along which a constant that is broadcast to it
/// varies: -1 if the constant is uniform or has one element, nullopt if it
/// varies along several axes.
std::optional<int64_t> getVaryingAxis(mlir::Value value,
                                      mlir::RankedTensorType type);

/// Creates an nn.constant at the builder's insertion point. `name` appears in
/// printed IR and has no other meaning.
mlir::Value createConstant(mlir::OpBuilder &builder, mlir::Location location,
                           const TensorData &data, llvm::StringRef name);

/// Creates a constant that broadcasts against `type`: a tensor of rank 0 if
/// `values` has one element, otherwise one value for each index of `axis`, in
/// shape [1,K,1,1], or [N] if the axis is the last.
mlir::Value createChannelConstant(mlir::OpBuilder &builder,
                                  mlir::Location location,
                                  mlir::RankedTensorType type, int64_t axis,
                                  llvm::ArrayRef<double> values);

} // namespace nnc

#endif // NNC_COMPILER_PATTERNS_CONSTANTS_H
