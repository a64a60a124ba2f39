//===- Empty.h - Tensors without elements ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_EMPTY_H
#define NNC_DIALECTS_NN_EMPTY_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace nnc::nn {

/// Whether `value` is a tensor that has an axis of size 0.
bool isEmpty(mlir::Value value);

/// Whether `op` has elements in its result although an operand has none, and
/// would read elements of that operand. Routines are never called so.
bool readsNothing(mlir::Operation *op);

/// What every element of the result of such an op is: the sum of no products is
/// zero, the largest of no numbers is the least one. Null where the op does not
/// say.
mlir::TypedAttr getEmptyResult(mlir::Operation *op);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_EMPTY_H
