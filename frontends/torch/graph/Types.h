//===- Types.h - Element types of PyTorch ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_TYPES_H
#define NNC_FRONTENDS_TORCH_GRAPH_TYPES_H

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <string>

namespace nnc::torch {

/// The number of the layout "strided" in a program: that of dense tensors.
inline constexpr int64_t kStrided = 7;

/// The numbers of the dtypes of complex numbers whose parts are f32 and f64.
inline constexpr int64_t kComplex64 = 10, kComplex128 = 11;

/// Returns the type of stored elements, such as those of inputs and outputs,
/// for the number of a dtype in a program; null for one that nnc does not
/// handle.
mlir::Type getStoredType(mlir::MLIRContext *context, int64_t dtype);
/// Returns the type with which nnc computes elements of a stored type: float32
/// for floats of 16 bits, and the type itself for others.
mlir::Type getComputedType(mlir::Type stored);
/// Returns true for a dtype of complex numbers. Their values have a last axis
/// of two parts, the real one and the imaginary one.
inline bool isComplexType(int64_t dtype) { return dtype >= 9 && dtype <= 11; }
/// Returns PyTorch's name of a dtype: "torch.float32".
std::string getTypeName(int64_t dtype);
/// Returns PyTorch's name of an element type.
std::string getTypeName(mlir::Type element);

/// The kinds of numbers, from the lowest to the highest in PyTorch's promotion
/// of types.
enum class NumberKind { boolean, integer, real };
NumberKind getNumberKind(mlir::Type element);
/// Returns the type to which PyTorch promotes elements of both types.
mlir::Type promote(mlir::Type a, mlir::Type b);
/// Returns the default type of a kind of numbers: i1, i64 or f32.
mlir::Type getDefaultType(mlir::MLIRContext *context, NumberKind kind);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_TYPES_H
