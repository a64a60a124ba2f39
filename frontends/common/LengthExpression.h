//===- LengthExpression.h - Computations of lengths -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_LENGTHEXPRESSION_H
#define NNC_FRONTENDS_COMMON_LENGTHEXPRESSION_H

#include "dialects/nn/lengths/LengthExpression.h"

#include "mlir/IR/Value.h"

namespace nnc::frontends {
class LayerBuilder;

using nn::LengthExpression;

/// Builds ops that compute the value of `number` at run time from the values of
/// the lengths, and returns the result, an i64 scalar.
mlir::Value buildLength(const LengthExpression &number, LayerBuilder &builder,
                        llvm::ArrayRef<mlir::Value> lengths);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LENGTHEXPRESSION_H
