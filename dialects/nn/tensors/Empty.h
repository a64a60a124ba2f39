//===- Empty.h - Tensors without elements ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TENSORS_EMPTY_H
#define NNC_DIALECTS_NN_TENSORS_EMPTY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace nnc::nn {

/// Returns true if `value` is a tensor with an axis of size 0.
bool isEmpty(mlir::Value value);

/// Returns true if the result of `op` has elements although an operand that the
/// op reads has none: a sum over an axis of size 0, for example. The result
/// then follows from the op's definition (getEmptyResult), and no routine is
/// called.
bool readsNothing(mlir::Operation *op);

/// Returns the value of every element of the result of an op for which
/// readsNothing() holds, or null if the op does not define it. An empty sum is
/// 0, and an empty maximum is the least value of the type.
mlir::TypedAttr getEmptyResult(mlir::Operation *op);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_TENSORS_EMPTY_H
