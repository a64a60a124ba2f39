//===- Copy.h - What ops that only move elements share --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_COPY_H
#define NNC_DIALECTS_NN_COPY_H

#include "dialects/nn/Nn.h"

#include "mlir/IR/PatternMatch.h"

namespace nnc::nn {

/// A call of the `copy` family: `dims` elements between two strided places.
/// Axes that both sides walk as one become one.
RoutineCall makeCopy(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> dims,
                     llvm::ArrayRef<int64_t> source,
                     llvm::ArrayRef<int64_t> target, int64_t sourceOffset,
                     int64_t targetOffset, unsigned operand);

/// Row-major strides of `shape`.
llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape);

/// The value's type without its layout.
inline mlir::RankedTensorType getPlain(mlir::Value value) {
  return getLogicalType(getTensorType(value));
}

/// A row-major tensor of `type`'s elements.
inline mlir::RankedTensorType withShape(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, type.getElementType());
}

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_COPY_H
