//===- Elementwise.h - Elementwise operators --------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_MXNET_ELEMENTWISE_ELEMENTWISE_H
#define NNC_FRONTENDS_MXNET_ELEMENTWISE_ELEMENTWISE_H

#include "frontends/mxnet/graph/Layer.h"

namespace nnc::mxnet {

/// Converts an operator of one input to the nn op `op`.
mlir::Value convertUnary(Layer &layer, llvm::StringRef op);
/// Converts an operator of two inputs to the nn op `op`. A comparison has
/// results of the type of its inputs, except in NumPy's names of operators.
mlir::Value convertBinary(Layer &layer, llvm::StringRef op);
/// Converts an operator of one input and the attribute `scalar`, which is the
/// second operand of `op` or, with `isReversed`, the first.
mlir::Value convertScalar(Layer &layer, llvm::StringRef op, bool isReversed);

} // namespace nnc::mxnet

#endif // NNC_FRONTENDS_MXNET_ELEMENTWISE_ELEMENTWISE_H
