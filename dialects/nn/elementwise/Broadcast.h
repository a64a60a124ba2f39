//===- Broadcast.h - Broadcasting and the types of elementwise ops --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ELEMENTWISE_BROADCAST_H
#define NNC_DIALECTS_NN_ELEMENTWISE_BROADCAST_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/ValueRange.h"

namespace nnc::nn {

/// How an operand of an epilogue broadcasts to the result: one value per
/// element, one per channel, one for all elements, or any other broadcast (in
/// elementwise layers only). The first three are those of runtime/epilogue.h.
enum class ExtraKind { Full, Channel, Scalar, Broadcast };

/// Returns the kind of an operand of shape `shape` for a result of shape
/// `result`.
ExtraKind getExtraKind(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> result,
                       std::optional<int64_t> channelAxis);

/// Returns true if the types agree in shape and element type; layouts may
/// differ.
bool haveSameLogicalTypes(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Returns the shape that `shapes` broadcast to by NumPy's rules, or nullopt if
/// they are incompatible.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Infers the shape of a matrix product, whose batch axes broadcast. Fails if
/// the operands do not fit, and emits an error if `location` is given.
mlir::LogicalResult inferMatMul(std::optional<mlir::Location> location,
                                mlir::RankedTensorType a,
                                mlir::RankedTensorType b, bool transposesA,
                                bool transposesB,
                                llvm::SmallVectorImpl<int64_t> &shape);

/// Infers the result type of an elementwise op. `element` selects its element
/// type: that of the "first" or "last" operand, "bool", or for "bits" the float
/// or integer of the same size. The operands are all tensors or all scalars.
mlir::LogicalResult inferElementwise(std::optional<mlir::Location> location,
                                     mlir::ValueRange operands,
                                     llvm::StringRef element,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// Returns the function that encodes or decodes small floats of `format`, or an
/// empty string for an unknown format.
llvm::StringRef getSmallFloatFunction(llvm::StringRef format, bool isEncoded);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ELEMENTWISE_BROADCAST_H
